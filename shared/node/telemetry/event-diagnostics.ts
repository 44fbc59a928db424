/**
 * What the engine tells its screens, as lines of the diagnostic log where it is a disconnect, a limit or an error. The
 * door writes its own line for each call and read that went out, so those are not repeated here.
 */
import type { EngineEvent } from '../../contract/events.ts';
import type { RunSummary } from '../../contract/experiments.ts';
import type { ServerStatus } from '../../contract/server.ts';
import type { DiagnosticLog } from './diagnostic-log.ts';

/** A listener for the engine's events. One line for each change, however often the same state is told. */
export function eventDiagnostics(log: Pick<DiagnosticLog, 'write'>): (event: EngineEvent) => void {
  let server: { readonly url: string; readonly state: ServerStatus['state'] } | null = null;
  const endedRuns = createRecent();
  return (event) => {
    switch (event.type) {
      case 'server-changed': {
        const { url, state } = event.status;
        if (state === 'looking') return;
        const before = server?.url === url ? server.state : null;
        server = { url, state };
        if (state === 'down' && before !== 'down') log.write({ event: 'server-down', kind: 'disconnect', server: url });
        if (state === 'up' && before === 'down') log.write({ event: 'server-back', kind: 'info', server: url });
        return;
      }
      case 'call-closed': {
        const { id, runId, model, ending } = event.call;
        // It never reached the door: refused here, by a limit or a rule.
        if (ending === 'not-sent')
          log.write({ event: 'call-not-sent', kind: 'limit', callId: id, runId, model, ending });
        return;
      }
      case 'run-changed': {
        const { id, state } = event.run;
        if (troubled.includes(state) && endedRuns.isNew(`${id} ${state}`)) {
          log.write({ event: `run-${state}`, kind: 'error', runId: id });
        }
        return;
      }
      case 'notice-raised':
        // Its text can name what a person wrote, so only that there was one.
        if (event.level !== 'info')
          log.write({ event: 'notice-raised', kind: event.level === 'error' ? 'error' : 'limit' });
        return;
      default:
    }
  };
}

const troubled: readonly RunSummary['state'][] = ['failed', 'interrupted'];
const recentMax = 200;

/** Remembers the last names it was asked about. */
function createRecent(): { isNew(name: string): boolean } {
  const names = new Set<string>();
  return {
    isNew: (name) => {
      if (names.has(name)) return false;
      names.add(name);
      const [oldest] = names;
      if (names.size > recentMax && oldest !== undefined) names.delete(oldest);
      return true;
    },
  };
}
