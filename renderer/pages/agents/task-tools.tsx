/** What the agent may call: ready sets, MCP servers, and the tools they come to, with what each costs. */
import { useState } from 'react';
import { toolSets } from '../../../shared/contract/agents.ts';
import type { ToolInventory } from '../../../shared/contract/agents.ts';
import { exactDollars, nanoDollars } from '../../../shared/contract/costs.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Button } from '../../components/button.tsx';
import { Tag } from '../../components/chip.tsx';
import { Field } from '../../components/field.tsx';
import { Checks } from '../../components/slot.tsx';
import { byteSize, count, duration } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';
import type { TaskPartProps } from './task-fields.tsx';
import type { Inventory } from './task-store.ts';
import { serverWords, toolSetWords } from './task-words.ts';

export function ToolsPart({
  text,
  onText,
  inventory,
  onAsk,
}: TaskPartProps & { readonly inventory: Inventory; readonly onAsk: () => void }) {
  const hasServers = Object.keys(text.servers).length > 0;
  return (
    <>
      <Checks
        label="Ready tools, simulated"
        options={toolSets.map((value) => ({ value, ...toolSetWords[value] }))}
        value={text.tools}
        onValue={(tools) => onText({ ...text, tools })}
      />
      <ServersField text={text} onText={onText} />
      {hasServers ? (
        <div className="flex flex-wrap items-center gap-2">
          <Button onClick={onAsk}>Ask the servers for their tools</Button>
          <span className="lab">starts them only to ask, and ends them again</span>
        </div>
      ) : null}
      <InventoryTable inventory={inventory} />
    </>
  );
}

function ServersField({ text, onText }: Pick<TaskPartProps, 'text' | 'onText'>) {
  const client = useClient();
  const [typed, setTyped] = useState('');
  const [refusal, setRefusal] = useState<Denial | null>(null);
  const names = Object.keys(text.servers);
  const read = (): void => {
    void client.request('agent.readServers', { text: typed }).then((answer) => {
      setRefusal(answer.ok ? null : answer.denial);
      if (!answer.ok) return;
      onText({ ...text, servers: { ...text.servers, ...answer.value.servers } });
      setTyped('');
    });
  };
  const problem = refusal === null ? null : [refusal.message, refusal.next].filter(Boolean).join(' ');
  return (
    <>
      {names.length === 0 ? null : (
        <ul aria-label="MCP servers" className="flex flex-col">
          {names.map((name) => {
            const server = text.servers[name];
            const { [name]: _, ...others } = text.servers;
            return (
              <li key={name} className="flex min-h-7 min-w-0 items-center gap-2 border-b last:border-b-0">
                <b className="max-w-60 truncate">{name}</b>
                <span className="mono min-w-0 flex-1 truncate" title={server === undefined ? '' : serverWords(server)}>
                  {server === undefined ? '' : serverWords(server)}
                </span>
                <Button look="flat" aria-label={`Remove ${name}`} onClick={() => onText({ ...text, servers: others })}>
                  Remove
                </Button>
              </li>
            );
          })}
        </ul>
      )}
      <Field
        label="MCP servers, JSON"
        help="mcpServers as other clients keep it. Every call of these tools goes through the gateway too."
        problem={problem}
      >
        {({ id, problemId }) => (
          <div className="flex items-start gap-2">
            <textarea
              id={id}
              rows={typed === '' ? 1 : 6}
              spellCheck={false}
              maxLength={1_000_000}
              value={typed}
              placeholder={'{"mcpServers": {"files": {"command": "npx", "args": ["…"]}}}'}
              aria-invalid={problem !== null}
              aria-describedby={problem === null ? undefined : problemId}
              className="field h-auto! min-h-7 flex-1 resize-y py-1"
              onChange={(event) => {
                setTyped(event.target.value);
                setRefusal(null);
              }}
            />
            <Button disabled={typed.trim() === ''} onClick={read}>
              Read
            </Button>
          </div>
        )}
      </Field>
    </>
  );
}

function InventoryTable({ inventory }: { readonly inventory: Inventory }) {
  if (inventory.kind === 'none') return null;
  if (inventory.kind === 'asking') return <p className="lab">Asking for the tools.</p>;
  if (inventory.kind === 'refused')
    return (
      <p role="alert" className="wrap-anywhere text-ink">
        {[inventory.denial.message, inventory.denial.next].filter(Boolean).join(' ')}
      </p>
    );
  return (
    <>
      {inventory.problems.map((problem, index) => (
        <p key={index} role="alert" className="wrap-anywhere text-ink">
          {problem}
        </p>
      ))}
      <table aria-label="Tools of the task" className="w-full table-fixed text-table">
        <thead>
          <tr className="bg-sunk text-left text-ink-3 [&>th]:px-2 [&>th]:py-1 [&>th]:font-normal">
            <th className="w-[32%]">tool</th>
            <th className="w-[15%]">from</th>
            <th className="w-[11%] text-right">worst price</th>
            <th className="w-[10%] text-right">usual time</th>
            <th className="w-[10%] text-right">usual size</th>
            <th>what to know</th>
          </tr>
        </thead>
        <tbody>
          {inventory.tools.map((tool) => (
            <ToolRow key={`${tool.source} ${tool.name}`} tool={tool} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function ToolRow({ tool }: { readonly tool: ToolInventory[number] }) {
  const tags = [
    tool.sideEffect ? (['side effect', 'It outlives the call: a lease is held for it.'] as const) : null,
    tool.polls ? (['polls', 'It waits for something: a higher limit, and no check for new text.'] as const) : null,
    tool.approval ? (['asks a person', 'Each call waits for a person.'] as const) : null,
    tool.callsMax === null ? null : ([`${count(tool.callsMax)} calls at most`, 'In one run.'] as const),
    tool.attemptsMax > 1 ? ([`${tool.attemptsMax} tries`, 'Each try is paid.'] as const) : null,
  ].filter((tag) => tag !== null);
  return (
    <tr className="h-7 border-b [&>td]:truncate [&>td]:px-2 [&>td]:py-1">
      <td className="mono text-ink" title={`${tool.name}: ${tool.description}`}>
        {tool.name}
      </td>
      <td>{tool.source}</td>
      <td className="text-right">{exactDollars(nanoDollars(tool.nanoDollarsWorst))}</td>
      <td className="text-right">{duration(tool.latencyMsUsual)}</td>
      <td className="text-right">{byteSize(tool.outputBytesUsual)}</td>
      <td>
        <span className="flex flex-wrap gap-1">
          {tags.map(([text, title]) => (
            <Tag key={text} text={text} title={title} />
          ))}
        </span>
      </td>
    </tr>
  );
}
