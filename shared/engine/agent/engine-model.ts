/** A server's model as the model of an agent: every turn is a governed call of its own, through the same corridor as all others. */
import type { AgentTask } from '../../contract/agents.ts';
import { type CallRequest, type Message, type Reply, callRequestSchema } from '../../contract/calls.ts';
import { type Denial, type Result, denialOfIssues, ok } from '../../contract/denials.ts';
import type { Engine } from '../engine.ts';
import { partsOf } from '../reasoning/parts.ts';
import type { AgentModel, TranscriptEntry, TurnAnswer, TurnAsk } from './model.ts';

/**
 * Turns whose reply did not come to its end are failed turns; the run then ends and says so. Thinking never comes into the
 * transcript, wherever the model put it. Each turn is reserved and charged in the ledger like every other call.
 */
export function engineModel(engine: Pick<Engine, 'open' | 'cancel'>, task: AgentTask): AgentModel {
  return {
    async turn(ask) {
      const request = requestOf(task, ask);
      if (!request.ok) return failedTurn(wordsOf(request.denial), null);
      const opened = engine.open(request.value);
      if (!opened.ok) return failedTurn(wordsOf(opened.denial), null);
      const { id, done } = opened.value;
      const release = ask.signal.onAbort(() => engine.cancel(id, ask.signal.reason ?? 'person'));
      const { record, denial } = await done.finally(release);
      const { reply } = record;
      if (denial !== null && reply.ending === 'not-sent') return failedTurn(wordsOf(denial), id);
      if (reply.ending !== 'done') return brokenTurn(reply, id, ask.tools.length > 0);
      const { answer, fieldAnswer } = partsOf(reply.thinking, reply.answer);
      return {
        text: (fieldAnswer ?? answer).trim(),
        toolCalls: (reply.toolCallsMade ?? []).map((call, index) => ({ id: String(index), ...call })),
        promptTokens: reply.promptEvalCount,
        outputTokens: reply.evalCount,
        thinkingTokens: record.reasoning?.split?.thinkingTokens ?? 0,
        callId: id,
        failed: null,
      };
    },
  };
}

/** The code first: it tells a budget that is used up from a server that is away. */
function wordsOf({ code, message, next }: Denial): string {
  return [`${code}: ${message}`, next].filter(Boolean).join(' ');
}

/** What the server's own readers say where a model wrote a call that is none; the reply is lost with it. */
const UNREADABLE =
  /failed to parse JSON|error parsing tool call|tool call parsing failed|XML syntax error|^(?:unexpected )?EOF$|^invalid character |cannot unmarshal/i;

function brokenTurn(reply: Reply, callId: string, hasTools: boolean): TurnAnswer {
  const words = reply.error ?? `The reply ended as ${reply.ending}.`;
  const failed = failedTurn(words, callId);
  if (reply.abortedBy === 'timeout') return { ...failed, outOfTime: true };
  const isServers = reply.ending === 'error-line' || (reply.ending === 'refused' && reply.status === 500);
  if (!hasTools || !isServers || !UNREADABLE.test(words)) return failed;
  return {
    ...failed,
    failed: null,
    unreadable: words,
    promptTokens: reply.promptEvalCount,
    outputTokens: reply.evalCount,
  };
}

function requestOf(task: AgentTask, { transcript, tools, timeLeftMs }: TurnAsk): Result<CallRequest> {
  const parsed = callRequestSchema.safeParse({
    model: task.model,
    route: 'chat',
    messages: transcript.map(messageOf),
    numCtx: task.numCtx,
    numPredict: task.numPredict,
    think: 'default',
    temperature: task.temperature,
    seed: task.seed,
    policy: 'warn',
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })) }),
    ...(task.payer === undefined ? {} : { payer: task.payer }),
    ...(timeLeftMs === null ? {} : { timeoutMs: Math.max(1, timeLeftMs) }),
  });
  return parsed.success ? ok(parsed.data) : { ok: false, denial: denialOfIssues(parsed.error) };
}

/** Names that a model made up may be of any length; it is told of them in the answer to its call. */
const NAME_MAX = 300;

function messageOf(entry: TranscriptEntry): Message {
  if (entry.role === 'assistant') {
    const toolCalls = entry.toolCalls.map(({ name, argumentsText }) => ({
      name: name.slice(0, NAME_MAX).toWellFormed(),
      argumentsText,
    }));
    return { role: 'assistant', content: entry.content, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
  }
  if (entry.role === 'tool') {
    return { role: 'tool', content: entry.content, toolName: entry.toolName.slice(0, NAME_MAX).toWellFormed() };
  }
  return { role: entry.role, content: entry.content };
}

function failedTurn(words: string, callId: string | null): TurnAnswer {
  return { text: '', toolCalls: [], promptTokens: null, outputTokens: null, callId, failed: words };
}
