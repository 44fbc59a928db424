/** Makes the call of one cell of a reasoning experiment. */
import type { CallRequest } from '../../contract/calls.ts';
import type { ReasoningCellPlan, ReasoningExperiment } from '../../contract/reasoning.ts';

/** The same experiment and plan give the same request. */
export function reasoningRequest(experiment: ReasoningExperiment, plan: ReasoningCellPlan): CallRequest {
  const { system, messages, prompt } = experiment;
  return {
    model: plan.model,
    route: 'chat',
    messages: [
      ...(system === undefined || system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...(messages ?? []),
      { role: 'user', content: prompt },
    ],
    numCtx: plan.numCtx,
    numPredict: plan.numPredict,
    think: plan.think,
    temperature: experiment.temperature,
    seed: plan.seed,
    policy: 'warn',
    stream: experiment.stream,
    needles: [],
    logprobs: experiment.logprobs && !plan.warmUp,
    ...(plan.thinkingCap === null ? {} : { thinkingCap: plan.thinkingCap }),
    ...(experiment.timeoutMs === undefined ? {} : { timeoutMs: experiment.timeoutMs }),
  };
}
