import { useEngine } from '../stores/engine-context.ts';

/** Says when what is on screen is no longer fed. */
export function LostConnection() {
  const connection = useEngine((state) => state.connection);
  const loaded = useEngine((state) => state.loaded);
  const text = textOf(connection, loaded);
  if (text === null) return null;
  return (
    <div role="alert" className="flex-none border-b bg-ink px-4 py-1 text-invert">
      {text}
    </div>
  );
}

function textOf(connection: string, loaded: boolean): string | null {
  switch (connection) {
    case 'refused':
      return 'This page is from an earlier start of Spillway. Open the link that it printed when it started.';
    case 'waiting':
      return loaded
        ? 'Spillway does not answer. What you see is from before; it goes on by itself when Spillway is back.'
        : 'Spillway does not answer. Start it again, then open the link that it prints.';
    case 'closed':
      return 'The connection was closed. Reload the page.';
    default:
      return null;
  }
}
