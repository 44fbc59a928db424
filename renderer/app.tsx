/** The frame of the console: top bar, rail, page, status bar, and what floats above them. */
import { Tooltip } from 'radix-ui';
import { Suspense, lazy, useEffect } from 'react';
import { Explain } from './pages/live/explain.tsx';
import { LivePage } from './pages/live/live-page.tsx';
import { HistoryPage } from './pages/history/history-page.tsx';
import { SettingsPage } from './pages/settings/settings-page.tsx';
import { ApprovalBar } from './frame/approval-bar.tsx';
import { Help } from './frame/help.tsx';
import { LostConnection } from './frame/lost-connection.tsx';
import { PageBoundary } from './frame/page-boundary.tsx';
import { Palette } from './frame/palette.tsx';
import { Rail } from './frame/rail.tsx';
import { useShortcuts } from './frame/shortcuts.ts';
import { StatusBar } from './frame/status-bar.tsx';
import { useTheme } from './frame/theme.ts';
import { Toasts } from './frame/toasts.tsx';
import { TopBar } from './frame/top-bar.tsx';
import { useAgentsFeed } from './stores/agents-feed.ts';
import { EngineContext } from './stores/engine-context.ts';
import { useLedgerFeed } from './stores/ledger-feed.ts';
import type { EngineClient } from './stores/engine-store.ts';
import { screen, useScreen } from './stores/screen-store.ts';

// The charts weigh more than all the rest; the first page does not wait for them.
const ContextPage = lazy(() =>
  import('./pages/context/context-page.tsx').then((module) => ({ default: module.ContextPage })),
);

const ReasoningPage = lazy(() =>
  import('./pages/reasoning/reasoning-page.tsx').then((module) => ({ default: module.ReasoningPage })),
);

const LedgerPage = lazy(() =>
  import('./pages/ledger/ledger-page.tsx').then((module) => ({ default: module.LedgerPage })),
);

const AgentsPage = lazy(() =>
  import('./pages/agents/agents-page.tsx').then((module) => ({ default: module.AgentsPage })),
);

const CostsPage = lazy(() => import('./pages/costs/costs-page.tsx').then((module) => ({ default: module.CostsPage })));

export function App({ client }: { readonly client: EngineClient }) {
  return (
    <EngineContext value={client}>
      <Tooltip.Provider delayDuration={400}>
        <Frame />
      </Tooltip.Provider>
    </EngineContext>
  );
}

function Frame() {
  useTheme();
  useShortcuts();
  useLedgerFeed();
  useAgentsFeed();
  useEffect(() => screen.followAddress(), []);
  const page = useScreen((state) => state.route.page);
  const presenter = useScreen((state) => state.presenter);
  useEffect(() => {
    document.documentElement.dataset['presenter'] = presenter ? 'on' : 'off';
  }, [presenter]);
  return (
    <div className="flex h-full flex-col">
      <TopBar />
      <LostConnection />
      <ApprovalBar />
      <div className="flex min-h-0 flex-1">
        <Rail />
        <div className="min-h-0 min-w-0 flex-1">
          <PageBoundary key={page}>
            <CurrentPage />
          </PageBoundary>
        </div>
      </div>
      <StatusBar />
      <Toasts />
      <Palette />
      <Help />
      <Explain />
    </div>
  );
}

function CurrentPage() {
  const page = useScreen((state) => state.route.page);
  switch (page) {
    case 'live':
      return <LivePage />;
    case 'context':
      return (
        <Suspense fallback={null}>
          <ContextPage />
        </Suspense>
      );
    case 'reasoning':
      return (
        <Suspense fallback={null}>
          <ReasoningPage />
        </Suspense>
      );
    case 'ledger':
      return (
        <Suspense fallback={null}>
          <LedgerPage />
        </Suspense>
      );
    case 'agents':
      return (
        <Suspense fallback={null}>
          <AgentsPage />
        </Suspense>
      );
    case 'costs':
      return (
        <Suspense fallback={null}>
          <CostsPage />
        </Suspense>
      );
    case 'history':
      return <HistoryPage />;
    case 'settings':
      return <SettingsPage />;
  }
}
