/** The receipt of an agent: what it might use, what it used and gave on, what ended it, and what it came back with. */
import { Square } from 'lucide-react';
import type { AgentNode, AgentRun } from '../../../shared/contract/agents.ts';
import { ReasonMark } from './reason-mark.tsx';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Facts } from '../../components/detail-pane.tsx';
import { count } from '../../format/numbers.ts';
import { withSigns } from '../../format/signs.ts';
import { Pane, PaneHead } from './pane.tsx';
import { billedSource, contextSource } from './run-figures.ts';
import { exhaustionText, inSeconds, nodeWords, wholeMoney } from './words.ts';

export interface NodePaneProps {
  readonly run: AgentRun;
  readonly node: AgentNode;
  readonly onStop: () => void;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}

export function NodePane({ run, node, onStop, onClose, onMove }: NodePaneProps) {
  const words = nodeWords(node);
  const { limits } = node;
  return (
    <Pane
      title={node.id}
      note={node.parentId === null ? 'the first agent' : `agent of ${node.parentId}`}
      simulated={run.simulated}
      onClose={onClose}
      onMove={onMove}
      footer={
        <>
          {node.state === 'ended' || run.state !== 'running' ? null : (
            <Button
              icon={Square}
              title="Ends it and all agents below it; the work under way is aborted"
              onClick={onStop}
            >
              Stop this agent
            </Button>
          )}
          <CopyButton label="Copy as JSON" look="plain" text={() => JSON.stringify(node, null, 2)} />
        </>
      }
    >
      <div className="flex items-start gap-2 px-4 pt-1 pb-2">
        <span className="flex h-6 items-center">
          <ReasonMark words={words} size="normal" />
        </span>
        <div className="min-w-0">
          <div className="figure whitespace-normal!">{words.text}</div>
          {node.exhaustion === null ? null : (
            <p className="wrap-anywhere text-ink">{exhaustionText(node.exhaustion)}</p>
          )}
        </div>
      </div>
      <Receipt node={node} nowMs={run.nowMs} />
      <Facts
        facts={[
          ['model turns', count(node.modelTurns)],
          [
            'context',
            `${count(node.used.contextTokens)} tokens came in, the largest was ${count(node.largestContextTokens)}${contextSource(run)}`,
          ],
          ['billed', `${count(node.used.billedTokens)} tokens${billedSource(run)}: every turn reads its whole context`],
          ['limit on', limits.tokensMean === 'context' ? 'context tokens' : 'billed tokens'],
          ['began', inSeconds(node.startedMs)],
          ['ended', node.endedMs === null ? 'not yet' : inSeconds(node.endedMs)],
        ]}
      />
      <PaneHead text="Task" aside={<CopyButton look="icon" label="Copy the task" text={() => node.task} />} />
      <p className="max-h-40 flex-none overflow-auto px-4 pb-2 wrap-anywhere whitespace-pre-wrap text-ink">
        {withSigns(node.task)}
      </p>
      {node.summary === null ? null : (
        <>
          <PaneHead
            text="What it came back with"
            aside={<CopyButton look="icon" label="Copy the summary" text={() => node.summary ?? ''} />}
          />
          <p className="px-4 pb-3 wrap-anywhere whitespace-pre-wrap text-ink">{withSigns(node.summary)}</p>
        </>
      )}
    </Pane>
  );
}

interface Line {
  readonly name: string;
  readonly limit: string;
  readonly used: string;
  readonly held: string;
  readonly carved: string;
  readonly left: string;
}

/** limit = used + held + carved + left, each in its own unit. */
function Receipt({ node, nowMs }: { node: AgentNode; nowMs: number }) {
  const heads = ['', 'limit', 'used', 'held', 'its agents', 'left'];
  return (
    <table className="mx-4 mb-1 flex-none text-table" aria-label="Receipt">
      <thead>
        <tr className="text-ink-3">
          {heads.map((head) => (
            <th key={head} className="py-0.5 pl-2 text-right font-normal first:pl-0 first:text-left">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {receiptLines(node, nowMs).map((line) => (
          <tr key={line.name} className="border-t text-ink">
            <th className="py-0.5 text-left font-normal text-ink-3">{line.name}</th>
            {[line.limit, line.used, line.held, line.carved, line.left].map((text, index) => (
              <td key={heads[index + 1]} className="py-0.5 pl-2 text-right">
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function receiptLines(
  { limits, used, held, carved, startedMs, endedMs, ...node }: AgentNode,
  nowMs: number,
): readonly Line[] {
  const tokens = limits.tokensMean === 'context' ? used.contextTokens : used.billedTokens;
  const spentMs = Math.max(0, (endedMs ?? nowMs) - startedMs);
  return [
    line('calls', limits.calls, used.calls, held.calls, carved.calls, count),
    line('tokens', limits.tokens, tokens, held.tokens, carved.tokens, count),
    line('money', limits.nanoDollars, used.nanoDollars, held.nanoDollars, carved.nanoDollars, wholeMoney),
    line('time', limits.wallClockMs, spentMs, null, null, inSeconds),
    line('agents', limits.descendants, node.descendants, null, null, count),
    line('fan-out', limits.fanOut, node.peak.fanOut, null, null, count, false),
    line('depth', limits.depth, node.depth, null, null, count, false),
    line('bytes', limits.outputBytes, node.peak.outputBytes, null, null, count, false),
  ];
}

/** sums: it is used up; what only bounds a step has nothing left over. */
function line(
  name: string,
  limit: number | null,
  used: number,
  held: number | null,
  carved: number | null,
  text: (value: number) => string,
  sums = true,
): Line {
  const left = limit === null ? null : Math.max(0, limit - used - (held ?? 0) - (carved ?? 0));
  return {
    name,
    limit: limit === null ? 'none' : text(limit),
    used: text(used),
    held: held === null ? '' : text(held),
    carved: carved === null ? '' : text(carved),
    left: !sums ? '' : left === null ? 'no limit' : text(left),
  };
}
