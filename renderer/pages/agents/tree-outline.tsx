/** The budget tree as an indented outline: name, how it ended, eight small bars. Virtual: a delegation bomb has thousands of lines. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { Square } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { KeyboardEvent } from 'react';
import type { AgentNode } from '../../../shared/contract/agents.ts';
import { dimensions } from '../../../shared/contract/agents.ts';
import { Badge } from '../../components/badge.tsx';
import { ReasonMark } from './reason-mark.tsx';
import { barHeads, barsOf } from './bars.ts';
import type { Bar } from './bars.ts';
import type { TreeLine } from './tree-model.ts';
import { nodeWords, tail } from './words.ts';

export interface TreeOutlineProps {
  readonly lines: readonly TreeLine[];
  readonly nowMs: number;
  readonly running: boolean;
  readonly picked: string | null;
  readonly onPick: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly onStop: (id: string) => void;
}

const NODE_HEIGHT = 56;
const REFUSED_HEIGHT = 32;
const INDENT = 16;
const INDENTS_MAX = 5;
const NAME_CHARACTERS = 14;
const TRACKS = 'grid grid-cols-[minmax(120px,1.6fr)_repeat(8,minmax(0,1fr))] gap-x-2 pr-4 pl-6';

export function TreeOutline({ lines, nowMs, running, picked, onPick, onOpen, onStop }: TreeOutlineProps) {
  const scroller = useRef<HTMLDivElement>(null);
  // eslint-disable-next-line react-hooks/incompatible-library -- this component is not compiled; it draws anew on every scroll
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === 'refused' ? REFUSED_HEIGHT : NODE_HEIGHT),
    overscan: 8,
    initialRect: { width: 560, height: 400 },
  });
  useEffect(() => {
    virtual.measure();
    // A line that became another kind has another height.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [lines.length]);
  const nodes = lines.filter((line) => line.kind === 'node');
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const index = nodes.findIndex(({ key }) => key === picked);
    const steps: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: nodes.length - 1 };
    const target = nodes[Math.max(0, Math.min(nodes.length - 1, steps[event.key] ?? -1))];
    if (event.key === 'Enter' && picked !== null) onOpen(picked);
    else if (steps[event.key] !== undefined && target !== undefined) {
      onPick(target.key);
      virtual.scrollToIndex(lines.indexOf(target));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div
        role="presentation"
        className={`${TRACKS} h-7 flex-none items-center border-y bg-sunk text-small text-ink-3`}
      >
        <span>agent</span>
        {dimensions.map((dimension) => (
          <span key={dimension} title={barHeads[dimension].help} className="truncate">
            {barHeads[dimension].text}
          </span>
        ))}
      </div>
      <div
        ref={scroller}
        role="tree"
        aria-label="Budget tree"
        tabIndex={0}
        data-scrolls="yes"
        onKeyDown={onKeyDown}
        className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto -outline-offset-2"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const line = lines[item.index];
            if (line === undefined) return null;
            return (
              <div
                key={line.key}
                className="absolute inset-x-0"
                style={{ transform: `translateY(${item.start}px)`, height: item.size }}
              >
                {line.kind === 'refused' ? (
                  <RefusedLine line={line} />
                ) : (
                  <NodeLine
                    node={line.node}
                    level={line.level}
                    nowMs={nowMs}
                    running={running}
                    on={line.key === picked}
                    onPick={() => onOpen(line.key)}
                    onStop={() => onStop(line.key)}
                  />
                )}
              </div>
            );
          })}
        </div>
        <Legend />
      </div>
    </div>
  );
}

const indent = (level: number): number => Math.min(level, INDENTS_MAX) * INDENT;

interface NodeLineProps {
  readonly node: AgentNode;
  readonly level: number;
  readonly nowMs: number;
  readonly running: boolean;
  readonly on: boolean;
  readonly onPick: () => void;
  readonly onStop: () => void;
}

function NodeLine({ node, level, nowMs, running, on, onPick, onStop }: NodeLineProps) {
  const words = nodeWords(node);
  const bars = barsOf(node, nowMs);
  const canStop = running && node.state !== 'ended';
  return (
    <div
      role="treeitem"
      aria-level={level + 1}
      aria-selected={on}
      aria-label={`${node.id}, ${words.text}. ${bars.map(({ help }) => help).join('. ')}`}
      onClick={onPick}
      className={`group ${TRACKS} h-full items-center border-b ${on ? 'bg-pick shadow-[inset_3px_0_0_var(--ink)]' : 'hover:bg-sunk'}`}
    >
      <div className="min-w-0" style={{ paddingLeft: indent(level) }}>
        <div className="flex min-w-0 items-center gap-1">
          <b className="min-w-0 truncate" title={node.id}>
            {tail(node.id, Math.max(6, NAME_CHARACTERS - 3 * Math.min(level, INDENTS_MAX)))}
          </b>
          {canStop ? (
            <button
              type="button"
              aria-label={`Stop ${node.id}`}
              title={`Stop ${node.id} and all agents below it`}
              className="button h-5! px-1!"
              data-look="flat"
              onClick={(event) => {
                event.stopPropagation();
                onStop();
              }}
            >
              <Square size={10} strokeWidth={2} aria-hidden="true" />
            </button>
          ) : null}
        </div>
        <div className="flex min-w-0 items-center gap-1.5 text-small text-ink-3">
          {node.state === 'ended' ? (
            <ReasonMark words={words} />
          ) : (
            <i
              className={`size-2 flex-none rounded-full ${node.state === 'running' ? 'pulse bg-ink-2' : 'border-[1.5px] border-ink-2'}`}
            />
          )}
          <span className="truncate">{words.text}</span>
        </div>
      </div>
      {bars.map((bar) => (
        <MicroBar key={bar.dimension} bar={bar} />
      ))}
    </div>
  );
}

export function MicroBar({ bar }: { readonly bar: Bar }) {
  return (
    <div className="c-budget min-w-0" title={bar.help}>
      <div className="truncate text-small leading-[14px] text-ink">{bar.text}</div>
      {bar.own === null ? (
        <div className="mt-[5px] mb-0.5 border-t border-dashed border-field" />
      ) : (
        <div className="relative mt-0.5 h-1.5 bg-pick shadow-[inset_0_0_0_1px_var(--line)]">
          <i className="moves fill absolute inset-y-0 left-0" style={{ width: `${bar.own * 100}%` }} />
          {bar.agents > 0 ? (
            <i
              className="moves absolute inset-y-0 bg-[repeating-linear-gradient(135deg,var(--c)_0_1.5px,var(--hatch-gap)_1.5px_4px)]"
              style={{ left: `${bar.own * 100}%`, width: `${bar.agents * 100}%` }}
            />
          ) : null}
        </div>
      )}
    </div>
  );
}

function RefusedLine({ line }: { line: Extract<TreeLine, { kind: 'refused' }> }) {
  return (
    <div
      className="flex h-full min-w-0 items-center gap-2 border-b pr-4 text-ink-2"
      style={{ paddingLeft: 24 + indent(line.level) }}
    >
      <span className="w-24 flex-none truncate">{line.name}</span>
      <Badge meaning="budget" severity="stopped" size="small" />
      <span className="lab truncate" title={line.text}>
        {line.text}
      </span>
    </div>
  );
}

function Legend() {
  return (
    <div className="c-budget flex flex-wrap items-center gap-x-4 gap-y-1 px-6 py-2 text-table">
      <span className="inline-flex items-center gap-1.5">
        <i className="swatch" />
        used
      </span>
      <span className="inline-flex items-center gap-1.5">
        <i className="swatch hatch" />
        by its agents
      </span>
      <span className="inline-flex items-center gap-1.5">
        <i className="swatch free" />
        left
      </span>
      <span className="lab">dashed: no limit</span>
    </div>
  );
}
