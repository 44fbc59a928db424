/** The keyboard of the whole console. Pages offer what space and e do with `useAction`; everything else is the same everywhere. */
import { useEffect } from 'react';
import { go, screen, useScreen } from '../stores/screen-store.ts';
import type { PageName } from '../stores/screen-store.ts';

export type ActionName = 'start-or-stop' | 'export';

const actions = new Map<ActionName, () => void>();

/** The page on screen says what a key does; null = nothing now. */
export function useAction(name: ActionName, run: (() => void) | null): void {
  useEffect(() => {
    if (run === null) return;
    actions.set(name, run);
    return () => {
      if (actions.get(name) === run) actions.delete(name);
    };
  }, [name, run]);
}

export function runAction(name: ActionName): boolean {
  const run = actions.get(name);
  run?.();
  return run !== undefined;
}

export const pageKeys: Record<string, PageName> = {
  l: 'live',
  c: 'context',
  r: 'reasoning',
  b: 'ledger',
  a: 'agents',
  m: 'costs',
  h: 'history',
  s: 'settings',
};

export const keyList: readonly (readonly [string, string])[] = [
  ['g l', 'Live'],
  ['g c', 'Context'],
  ['g r', 'Reasoning'],
  ['g b', 'Ledger (budgets)'],
  ['g a', 'Agents'],
  ['g m', 'Costs (money)'],
  ['g h', 'History'],
  ['g s', 'Settings'],
  ['/', 'Search on this page'],
  ['space', 'Start or stop'],
  ['e', 'Export'],
  ['[', 'Fold the rail'],
  ['p', 'Presenter mode'],
  ['Ctrl K', 'Go to, run, find'],
  ['Ctrl Enter', 'Send, while writing'],
  ['↑ ↓', 'Move in a table'],
  ['Enter', 'Open the row'],
  ['Ctrl C', 'Copy the row as JSON'],
  ['Esc', 'Close what is open'],
  ['?', 'This list'],
];

/** How long g waits for its second key. */
const SEQUENCE_MS = 1_200;

export function useShortcuts(): void {
  useEffect(() => {
    let waitingSince = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        screen.open('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isDialogOpen()) return;
      const second = event.timeStamp - waitingSince < SEQUENCE_MS;
      waitingSince = event.key === 'g' && !second ? event.timeStamp : -Infinity;
      if (second) {
        const page = pageKeys[event.key];
        if (page !== undefined) {
          event.preventDefault();
          go(page);
        }
        return;
      }
      if (pressed(event)) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, []);
}

function pressed(event: KeyboardEvent): boolean {
  switch (event.key) {
    case '/':
      document.querySelector<HTMLElement>('[data-search]')?.focus();
      return true;
    case ' ':
      return isControl(event.target) ? false : runAction('start-or-stop');
    case 'e':
      return runAction('export');
    case '[':
      screen.fold();
      return true;
    case 'p':
      screen.present();
      return true;
    case '?':
      screen.open('help');
      return true;
    case 'Escape':
      if (!useScreen.getState().presenter) return false;
      screen.present(false);
      return true;
    default:
      return false;
  }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input,textarea,select,[contenteditable=true]') !== null;
}

/** Where space already means something. */
function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('button,a,summary,[role=slider],[role=tab],[role=menuitem],[role=option]') !== null
  );
}

function isDialogOpen(): boolean {
  return document.querySelector('[role=dialog][data-state=open],[role=menu][data-state=open]') !== null;
}
