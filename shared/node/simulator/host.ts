/**
 * The simulator beside the engine: started when somebody asks for it, on a free loopback port, at most one.
 */
import { type Simulator, startSimulator } from './index.ts';

export interface SimulatorHost {
  /** The address; starts it when it does not run. */
  start(): Promise<string>;
  /** Safe to call when it does not run. */
  stop(): Promise<void>;
}

export function createSimulatorHost(options: { readonly timeScale: () => number }): SimulatorHost {
  let running: Promise<Simulator> | null = null;
  return {
    async start() {
      running ??= startSimulator({ port: 0, timeScale: options.timeScale() });
      try {
        return (await running).url;
      } catch (error) {
        running = null;
        throw error;
      }
    },
    async stop() {
      const current = running;
      running = null;
      await (await current)?.stop();
    },
  };
}
