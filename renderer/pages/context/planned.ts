/** The cells that an experiment is going to have, for the map before the first run. Keys are this screen's own. Pure. */
import type { ContextCell, ContextExperiment } from '../../../shared/contract/experiments.ts';
import type { CellKey } from '../../../shared/contract/ids.ts';

/** More are not drawn ahead: the map shows what kind of run it is, not every cell of it. */
export const PLANNED_CELLS_MAX = 400;

export function plannedCells({ axes, seed }: ContextExperiment): readonly ContextCell[] {
  const cells: ContextCell[] = [];
  for (const model of axes.models)
    for (const window of axes.numCtx)
      for (const route of axes.routes)
        for (const policy of axes.policies)
          for (const size of axes.sizes)
            for (const depths of axes.needleDepths) {
              if (cells.length === PLANNED_CELLS_MAX) return cells;
              const numCtx = window === 'default' ? null : (window as ContextCell['plan']['numCtx']);
              cells.push({
                plan: {
                  key: `planned ${cells.length}` as CellKey,
                  index: cells.length,
                  model,
                  numCtx,
                  size,
                  depths: [depths].flat(),
                  route,
                  policy,
                  repeat: 0,
                  seed,
                  warmUp: false,
                },
                state: 'waiting',
                documentCharacters: null,
                call: null,
              });
            }
  return cells;
}
