/** A server's model as the model of an agent: every turn is a governed call of its own, through the same corridor as all others. */
import type { AgentTask } from '../../contract/agents.ts';
import { type CallRequest, type Message, callRequestSchema } from '../../contract/calls.ts';
import type { Engine } from '../engine.ts';
import type { AgentModel, TranscriptEntry, TurnAnswer, TurnAsk } from './model.ts';

/** Turns whose reply did not come to its end are failed turns; the run then ends and says so. */
export function engineModel(engine: Pick<Engine, 'open' | 'cancel'>, task: AgentTask): AgentModel {
  return {
    async turn(ask) {
      const opened = engine.open(requestOf(task, ask.transcript, ask.tools, ask.timeLeftMs));
      if (!opened.ok) return failedTurn(opened.denial.message, null);
      const { id, done } = opened.value;
      const release = ask.signal.onAbort(() => engine.cancel(id, ask.signal.reason ?? 'person'));
      const { record, denial } = await done.finally(release);
      const { reply } = record;
      if (denial !== null && reply.ending === 'not-sent') return failedTurn(denial.message, id);
      if (reply.ending !== 'done') return failedTurn(reply.error ?? `The reply ended as ${reply.ending}.`, id);
      return {
        text: reply.answer,
        toolCalls: (reply.toolCallsMade ?? []).map((call, index) => ({ id: String(index), ...call })),
        promptTokens: reply.promptEvalCount,
        outputTokens: reply.evalCount,
        callId: id,
        failed: null,
      };
    },
  };
}

function requestOf(
  task: AgentTask,
  transcript: readonly TranscriptEntry[],
  tools: TurnAsk['tools'],
  timeLeftMs: number | null,
): CallRequest {
  return callRequestSchema.parse({
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
}

function messageOf(entry: TranscriptEntry): Message {
  if (entry.role === 'assistant') {
    const toolCalls = entry.toolCalls.map(({ name, argumentsText }) => ({ name, argumentsText }));
    return { role: 'assistant', content: entry.content, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
  }
  if (entry.role === 'tool') return { role: 'tool', content: entry.content, toolName: entry.toolName };
  return { role: entry.role, content: entry.content };
}

function failedTurn(words: string, callId: string | null): TurnAnswer {
  return { text: '', toolCalls: [], promptTokens: null, outputTokens: null, callId, failed: words };
}
