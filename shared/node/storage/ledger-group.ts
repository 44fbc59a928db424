/**
 * Grouped commit: what arrives in one turn of the event loop is decided in one transaction, in its order, and answered after
 * its COMMIT. The disk is waited for once. A failure of the disk denies all of the group; a bug costs only the operation it is
 * in, because the group is undone and its operations are tried again one by one.
 *
 * A turn ends with setImmediate, not with a microtask: calls that came over several sockets are asked for in callbacks of their
 * own, and microtasks run between those. It costs a call that comes alone some microseconds, beside the disk's hundreds.
 */
import type { Database } from 'better-sqlite3';
import { denied } from '../../contract/denials.ts';
import type { Result } from '../../contract/denials.ts';
import { storageDenial } from './failures.ts';
import { createLedgerUnit } from './ledger-unit.ts';
import type { LedgerUnit } from './ledger-unit.ts';
import type { Statements } from './statements.ts';

export type Work<Value> = (unit: LedgerUnit) => Result<Value>;
/** Calls back when the operations that are waiting are to be committed. */
export type Schedule = (flush: () => void) => void;

export interface LedgerGroup {
  write<Value>(work: Work<Value>): Promise<Result<Value>>;
  /** After what was asked before it, in the same transaction. */
  read<Value>(work: Work<Value>): Promise<Result<Value>>;
  /** Commits what is waiting now. */
  flush(): void;
  /** Flushes; what comes later is denied. */
  close(): void;
}

/** So that one group does not stop everything else for long. */
const groupMax = 1_000;
/** More waiting operations than this are denied. */
const waitingMax = 100_000;

interface Operation {
  readonly writes: boolean;
  readonly work: Work<unknown>;
  answer(result: Result<unknown>): void;
  fail(error: unknown): void;
}

export function createLedgerGroup(
  database: Database,
  statements: Statements,
  { grouped, schedule = setImmediate }: { readonly grouped: boolean; readonly schedule?: Schedule },
): LedgerGroup {
  const unit = createLedgerUnit(statements);
  let waiting: Operation[] = [];
  let closed = false;

  function add<Value>(writes: boolean, work: Work<Value>): Promise<Result<Value>> {
    if (closed)
      return Promise.resolve(denied('storage-failed', 'The ledger is closed.', { next: 'Start Spillway again.' }));
    if (waiting.length >= waitingMax) {
      return Promise.resolve(denied('busy', 'Too many operations wait for the ledger.', { retryAfterMs: 1_000 }));
    }
    return new Promise((answer, fail) => {
      waiting.push({ writes, work, answer: answer as (result: Result<unknown>) => void, fail });
      if (!grouped) flush();
      else if (waiting.length === 1) schedule(flushOne);
    });
  }

  function flush(): void {
    while (waiting.length > 0) flushOne();
  }

  function flushOne(): void {
    if (waiting.length === 0) return;
    const operations = waiting.length <= groupMax ? waiting : waiting.slice(0, groupMax);
    waiting = operations === waiting ? [] : waiting.slice(groupMax);
    commit(operations);
    if (waiting.length > 0) schedule(flushOne);
  }

  function commit(operations: readonly Operation[]): void {
    let results: Result<unknown>[];
    try {
      results = inTransaction(operations);
    } catch (error) {
      failed(operations, error);
      return;
    }
    operations.forEach((operation, index) => operation.answer(results[index] as Result<unknown>));
  }

  function inTransaction(operations: readonly Operation[]): Result<unknown>[] {
    const writes = operations.some((operation) => operation.writes);
    statements.run(writes ? 'BEGIN IMMEDIATE' : 'BEGIN');
    try {
      unit.start();
      const results = operations.map((operation) => operation.work(unit));
      if (writes) unit.save();
      statements.run('COMMIT');
      return results;
    } catch (error) {
      // SQLite has ended it by itself after some failures of the disk.
      if (database.inTransaction) statements.run('ROLLBACK');
      throw error;
    }
  }

  function failed(operations: readonly Operation[], error: unknown): void {
    let denial: Result<never>;
    try {
      denial = storageDenial(error, database.name);
    } catch {
      if (operations.length === 1) operations[0]?.fail(error);
      else for (const operation of operations) commit([operation]);
      return;
    }
    for (const operation of operations) operation.answer(denial);
  }

  return {
    write: (work) => add(true, work),
    read: (work) => add(false, work),
    flush,
    close: () => {
      flush();
      closed = true;
    },
  };
}
