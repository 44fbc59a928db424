/** What belongs to this window alone: page, folded rail, presenter mode, open dialogs, what was looked at. */
import { create } from 'zustand';

export const pageNames = ['live', 'context', 'reasoning', 'ledger', 'agents', 'costs', 'history', 'settings'] as const;
export type PageName = (typeof pageNames)[number];
export type Dialog = 'none' | 'palette' | 'help' | 'explain';

export interface Route {
  readonly page: PageName;
  /** What follows the page in the address: a run or call id, or empty. */
  readonly id: string;
}

export interface ScreenState {
  readonly route: Route;
  readonly railFolded: boolean;
  readonly presenter: boolean;
  readonly dialog: Dialog;
  /** Counts of endings that were on screen when the page was last looked at; a higher count is a dot in the rail. */
  readonly callsSeen: number;
  readonly runsSeen: number;
  readonly reasoningRunsSeen: number;
  /** Refusals and alerts. */
  readonly ledgerNewsSeen: number;
  /** Guards that tripped and agent runs that ended. */
  readonly agentNewsSeen: number;
}

/** Addresses look like #live or #context/run-id; anything else is the Live page. */
export function routeOf(hash: string): Route {
  const [page = '', ...rest] = hash.replace(/^#\/?/u, '').split('/');
  const known = pageNames.find((name) => name === page);
  if (known === undefined) return { page: 'live', id: '' };
  try {
    return { page: known, id: decodeURIComponent(rest.join('/')) };
  } catch {
    return { page: known, id: '' };
  }
}

export function go(page: PageName, id = ''): void {
  location.hash = id === '' ? page : `${page}/${encodeURIComponent(id)}`;
}

const RAIL_KEY = 'spillway.rail-folded';

export const useScreen = create<ScreenState>(() => ({
  route: routeOf(globalThis.location?.hash ?? ''),
  railFolded: remembered(RAIL_KEY) === 'yes',
  presenter: false,
  dialog: 'none',
  callsSeen: 0,
  runsSeen: 0,
  reasoningRunsSeen: 0,
  ledgerNewsSeen: 0,
  agentNewsSeen: 0,
}));

export const screen = {
  followAddress: (): (() => void) => {
    const follow = (): void => useScreen.setState({ route: routeOf(location.hash) });
    addEventListener('hashchange', follow);
    follow();
    return () => removeEventListener('hashchange', follow);
  },
  fold: (): void => {
    const railFolded = !useScreen.getState().railFolded;
    remember(RAIL_KEY, railFolded ? 'yes' : 'no');
    useScreen.setState({ railFolded });
  },
  present: (presenter = !useScreen.getState().presenter): void => useScreen.setState({ presenter }),
  open: (dialog: Dialog): void => useScreen.setState({ dialog }),
  close: (): void => useScreen.setState({ dialog: 'none' }),
};

/** Storage may be switched off; then nothing is remembered and nothing breaks. */
function remembered(key: string): string | null {
  try {
    return globalThis.localStorage?.getItem(key) ?? null;
  } catch {
    return null;
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing to do: the choice lasts until the window closes.
  }
}
