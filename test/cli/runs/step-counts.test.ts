import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PLAIN } from '../../../packages/cli/src/render/style.ts';
import { type RunListItem, runTable } from '../../../packages/cli/src/views/runs.ts';

const SHAPE = { style: PLAIN, columns: undefined };
const count = fc.nat(400);

test('the list shows how many steps of a run are done, and no total, because more may follow', () => {
  fc.assert(
    fc.property(
      count,
      count,
      count,
      count,
      count,
      count,
      (done, running, retrying, waiting, skipped, failed) => {
        const begun = done + running + retrying + waiting + skipped + failed;
        const run = {
          id: 'run_a',
          type: 'plain',
          planVersion: 1,
          status: 'running',
          createdAt: '2026-01-01T00:00:00.000Z',
          threadId: 'run_a',
          waits: [],
          running: [],
          runningCount: 0,
          steps: { begun, running, retrying, waiting, skipped, failed },
        } as unknown as RunListItem;
        const table = runTable([run], Date.UTC(2026, 0, 1), SHAPE);
        expect(table).not.toMatch(/\d+\/\d+/);
        if (begun > 0) expect(table).toContain(` ${done} done`);
      },
    ),
  );
});
