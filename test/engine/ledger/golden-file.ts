/** test/golden/ledger.json, as far as tests read it. */
import { readFileSync } from 'node:fs';

interface Used {
  readonly user: number;
  readonly tenant: number;
}

interface StepBase {
  readonly id: string;
  readonly at: string;
  readonly tenant: string;
  readonly user: string;
  readonly userKey: string;
  readonly tenantKey: string;
  readonly before: Used;
  readonly after: Used;
}

export interface ReserveStep extends StepBase {
  readonly op: 'reserve';
  readonly estimate: number;
  readonly outcome: 'reserved' | 'rejected';
  /** These only where it was rejected. */
  readonly scope: string;
  readonly wouldBe: number;
  readonly limit: number;
  readonly retryAfter: number;
  readonly detail: string;
}

export interface SettleStep extends StepBase {
  readonly op: 'settle';
  readonly input: number;
  readonly output: number;
  readonly alert: string | null;
}

export interface GoldenLedger {
  readonly clock: string;
  readonly estimate: {
    readonly systemTokens: number;
    readonly messageTokens: number;
    readonly messageChars: number;
    readonly maxOutput: number;
  };
  readonly trace: readonly (ReserveStep | SettleStep)[];
  readonly alerts: readonly string[];
  readonly metrics: readonly {
    readonly name: string;
    readonly add: number;
    readonly tags: Readonly<Record<string, string>>;
  }[];
  readonly final: Readonly<Record<string, number>>;
  readonly edges: {
    readonly twentyConcurrentReservations: {
      readonly sameUser: {
        readonly admitted: number;
        readonly rejected: number;
        readonly scope: string;
        readonly userReserved: number;
      };
      readonly twentyUsers: {
        readonly admitted: number;
        readonly rejected: number;
        readonly scope: string;
        readonly tenantReserved: number;
      };
    };
    readonly boundary: { readonly userLimit: number; readonly estimate: number; readonly admitted: boolean }[];
    readonly settleAfterMidnight: { readonly fixed: Readonly<Record<string, number>> };
    readonly usageMissing: { readonly userLimit: number; readonly fixedUserUsed: number };
    readonly denseScript: {
      readonly estimate: number;
      readonly actualIfOneTokenPerChar: number;
      readonly overrun: number;
    };
    readonly cancelled: {
      readonly userUsed: number;
      readonly tokensActuallyGenerated: {
        readonly prompt: number;
        readonly generated: number;
        readonly released: number;
      };
    };
    readonly keyCollision: { readonly tenants: readonly string[] };
    readonly retryAfterUser: { readonly rows: { readonly clock: string; readonly ceil: number }[] };
    readonly retryAfterTenant: { readonly value: number; readonly secondsToMonthEnd: number };
  };
}

export const golden = JSON.parse(readFileSync('test/golden/ledger.json', 'utf8')) as GoldenLedger;
export const reserveSteps = golden.trace.filter((step) => step.op === 'reserve');
export const settleOf = (id: string): SettleStep | undefined =>
  golden.trace.find((step): step is SettleStep => step.op === 'settle' && step.id === id);
