import {
  Activity,
  AppWindow,
  CircleDollarSign,
  Coins,
  List,
  FolderTree,
  PanelLeftClose,
  PanelLeftOpen,
  SlidersHorizontal,
  Sparkle,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useEffect } from 'react';
import { useEngine } from '../stores/engine-context.ts';
import { screen, useScreen } from '../stores/screen-store.ts';
import type { PageName } from '../stores/screen-store.ts';

const items: readonly { page: PageName; text: string; key: string; icon: LucideIcon }[] = [
  { page: 'live', text: 'Live', key: 'g l', icon: Activity },
  { page: 'context', text: 'Context', key: 'g c', icon: AppWindow },
  { page: 'reasoning', text: 'Reasoning', key: 'g r', icon: Sparkle },
  { page: 'ledger', text: 'Ledger', key: 'g b', icon: Coins },
  { page: 'agents', text: 'Agents', key: 'g a', icon: FolderTree },
  { page: 'costs', text: 'Costs', key: 'g m', icon: CircleDollarSign },
  { page: 'history', text: 'History', key: 'g h', icon: List },
  { page: 'settings', text: 'Settings', key: 'g s', icon: SlidersHorizontal },
];

const dotColours: Partial<Record<PageName, string>> = {
  reasoning: 'c-thinking',
  ledger: 'c-budget',
  agents: 'c-loops',
};

const dotWords: Partial<Record<PageName, string>> = {
  ledger: 'a refusal or an alert',
  agents: 'a guard tripped or a run ended',
};

/** The pages. A dot says that something ended on a page since it was last looked at. */
export function Rail() {
  const folded = useScreen((state) => state.railFolded);
  const current = useScreen((state) => state.route.page);
  const unseen = useUnseen(current);
  return (
    <nav
      aria-label="Pages"
      data-presents="no"
      className={`flex flex-none flex-col gap-0.5 border-r bg-sunk p-2 ${folded ? 'w-(--rail-folded)' : 'w-(--rail) max-[1100px]:w-40'}`}
    >
      {items.map(({ page, text, key, icon: Icon }) => (
        <a
          key={page}
          href={`#${page}`}
          aria-current={page === current ? 'page' : undefined}
          title={folded ? `${text} (${key})` : undefined}
          className={`relative flex h-8 items-center gap-2 rounded px-2 text-ink-2 hover:bg-pick ${page === current ? 'bg-pick font-semibold text-ink' : ''}`}
        >
          <Icon size={16} strokeWidth={1.6} aria-hidden="true" />
          {folded ? <span className="sr-only">{text}</span> : text}
          <span className="flex-1" />
          {unseen[page] === true ? (
            <i
              className={`${dotColours[page] ?? 'c-context'} fill size-2 flex-none rounded-full ${folded ? 'absolute top-1 right-1' : ''}`}
              role="img"
              aria-label={dotWords[page] ?? 'something ended here'}
            />
          ) : null}
          {folded ? null : (
            <span aria-hidden="true" className="w-6 text-right font-mono text-small font-normal text-ink-3">
              {key}
            </span>
          )}
        </a>
      ))}
      <span className="flex-1" />
      <button
        type="button"
        onClick={screen.fold}
        aria-label={folded ? 'Unfold the rail' : 'Fold the rail'}
        className="flex h-8 items-center gap-2 rounded px-2 text-ink-3 hover:bg-pick"
      >
        {folded ? <PanelLeftOpen size={16} strokeWidth={1.6} /> : <PanelLeftClose size={16} strokeWidth={1.6} />}
        {folded ? null : 'Fold'}
        <span className="flex-1" />
        {folded ? null : <span className="font-mono text-small">[</span>}
      </button>
    </nav>
  );
}

function useUnseen(current: PageName): Partial<Record<PageName, boolean>> {
  const callsEnded = useEngine((state) => state.callsEnded);
  const reasoningRunsEnded = useEngine((state) => state.reasoningRunsEnded);
  const contextRunsEnded = useEngine((state) => state.runsEnded - state.reasoningRunsEnded);
  const callsSeen = useScreen((state) => state.callsSeen);
  const runsSeen = useScreen((state) => state.runsSeen);
  const reasoningRunsSeen = useScreen((state) => state.reasoningRunsSeen);
  const ledgerNews = useEngine((state) => state.ledger.newsCount);
  const ledgerNewsSeen = useScreen((state) => state.ledgerNewsSeen);
  const agentNews = useEngine((state) => state.agents.newsCount);
  const agentNewsSeen = useScreen((state) => state.agentNewsSeen);
  useEffect(() => {
    if (current === 'agents') useScreen.setState({ agentNewsSeen: agentNews });
  }, [current, agentNews]);
  useEffect(() => {
    if (current === 'ledger') useScreen.setState({ ledgerNewsSeen: ledgerNews });
  }, [current, ledgerNews]);
  useEffect(() => {
    if (current === 'live') useScreen.setState({ callsSeen: callsEnded });
    if (current === 'context' || current === 'history') useScreen.setState({ runsSeen: contextRunsEnded });
    if (current === 'reasoning' || current === 'history') useScreen.setState({ reasoningRunsSeen: reasoningRunsEnded });
  }, [current, callsEnded, contextRunsEnded, reasoningRunsEnded]);
  return {
    live: current !== 'live' && callsEnded > callsSeen,
    context: current !== 'context' && contextRunsEnded > runsSeen,
    reasoning: current !== 'reasoning' && reasoningRunsEnded > reasoningRunsSeen,
    ledger: current !== 'ledger' && ledgerNews > ledgerNewsSeen,
    agents: current !== 'agents' && agentNews > agentNewsSeen,
  };
}
