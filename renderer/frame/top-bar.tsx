import { Contrast, Presentation, Search, SlidersHorizontal } from 'lucide-react';
import { IconButton } from '../components/button.tsx';
import { useClient, useEngine } from '../stores/engine-context.ts';
import { go, screen } from '../stores/screen-store.ts';
import { nextTheme } from './theme.ts';

export function TopBar() {
  const client = useClient();
  const theme = useEngine((state) => state.settings?.theme ?? 'system');
  return (
    <header data-presents="no" className="flex h-(--top) flex-none items-center gap-2 border-b bg-sunk pr-3 pl-4">
      <span className="font-semibold tracking-tight text-ink">Spillway</span>
      <span className="flex-1" />
      <span className="flex items-center gap-1">
        <button
          type="button"
          onClick={() => {
            screen.open('palette');
          }}
          className="mr-1 flex h-6 w-58 items-center gap-2 rounded border bg-page px-2 text-table text-ink-3 hover:border-field"
        >
          <Search size={13} strokeWidth={1.75} aria-hidden="true" />
          <span className="flex-1 text-left">Go to, run, find</span>
          <span className="kbd">{isMac() ? '⌘K' : 'Ctrl K'}</span>
        </button>
        <IconButton
          icon={Presentation}
          label="Presenter mode (p)"
          onClick={() => {
            screen.present(true);
          }}
        />
        <IconButton
          icon={Contrast}
          label={`Theme: ${theme}`}
          onClick={() => void client.request('settings.set', { theme: nextTheme(theme) })}
        />
        <IconButton
          icon={SlidersHorizontal}
          label="Settings (g s)"
          onClick={() => {
            go('settings');
          }}
        />
      </span>
    </header>
  );
}

function isMac(): boolean {
  return navigator.userAgent.includes('Mac');
}
