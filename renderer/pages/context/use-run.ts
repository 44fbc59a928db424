/** The context run that the page shows: its cells, and what they say together. */
import { useMemo } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import { isContextCell } from '../../../shared/contract/experiments.ts';
import type { Cell, ContextCell, ContextRun } from '../../../shared/contract/experiments.ts';
import type { CellKey, RunId } from '../../../shared/contract/ids.ts';
import { useStoredRun } from '../../stores/stored-run.ts';
import { labOf } from './trials.ts';
import type { Lab } from './trials.ts';

export interface ShownRun {
  readonly run: ContextRun | null;
  readonly cells: ReadonlyMap<CellKey, ContextCell>;
  readonly lab: Lab;
  readonly loading: boolean;
  readonly denial: Denial | null;
}

export function useRun(runId: RunId | null): ShownRun {
  const stored = useStoredRun(runId);
  const cells = useMemo(() => contextCells(stored.cells), [stored.cells]);
  const lab = useMemo(() => labOf(cells.values()), [cells]);
  return {
    run: stored.run?.kind === 'context' ? stored.run : null,
    cells,
    lab,
    loading: stored.waiting && cells.size === 0,
    denial: stored.denial,
  };
}

const noCells: ReadonlyMap<CellKey, ContextCell> = new Map();

/** A run is of one kind, and so are its cells. */
function contextCells(cells: ReadonlyMap<CellKey, Cell> | undefined): ReadonlyMap<CellKey, ContextCell> {
  if (cells === undefined) return noCells;
  for (const cell of cells.values())
    return isContextCell(cell) ? (cells as ReadonlyMap<CellKey, ContextCell>) : noCells;
  return noCells;
}
