import { useEffect } from 'react';
import type { Settings } from '../../shared/contract/settings.ts';
import { useEngine } from '../stores/engine-context.ts';

const order = ['system', 'light', 'dark'] as const;

export function nextTheme(theme: Settings['theme']): Settings['theme'] {
  return order[(order.indexOf(theme) + 1) % order.length] ?? 'system';
}

/** Puts the chosen theme on the page, and follows the system while that is the choice. */
export function useTheme(): void {
  const theme = useEngine((state) => state.settings?.theme ?? remembered());
  useEffect(() => {
    remember(theme);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const apply = (): void => {
      const dark = theme === 'dark' || (theme === 'system' && system.matches);
      document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
    };
    apply();
    system.addEventListener('change', apply);
    return () => {
      system.removeEventListener('change', apply);
    };
  }, [theme]);
}

/** The choice of last time, so that a dark screen does not start white while the settings are on their way. */
const THEME_KEY = 'spillway.theme';

function remembered(): Settings['theme'] {
  try {
    const kept = localStorage.getItem(THEME_KEY);
    return order.find((theme) => theme === kept) ?? 'system';
  } catch {
    return 'system';
  }
}

function remember(theme: Settings['theme']): void {
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch {
    // Without storage the screen starts as the system does.
  }
}
