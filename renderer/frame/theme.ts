import { useEffect } from 'react';
import type { Settings } from '../../shared/contract/settings.ts';
import { useEngine } from '../stores/engine-context.ts';

const order = ['system', 'light', 'dark'] as const;

export function nextTheme(theme: Settings['theme']): Settings['theme'] {
  return order[(order.indexOf(theme) + 1) % order.length] ?? 'system';
}

/** Puts the chosen theme on the page, and follows the system while that is the choice. */
export function useTheme(): void {
  const theme = useEngine((state) => state.settings?.theme ?? 'system');
  useEffect(() => {
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
