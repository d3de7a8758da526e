/** Tasks end at the age that their queue allows, and a sweep reads none that is younger than every queue allows. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { movableClock } from '../../../packages/local-kit/src/time/clock.ts';
import { LIMITS, NO_PROGRESS } from '../../../packages/local-tasks/src/model.ts';
import { TaskRegistry } from '../../../packages/local-tasks/src/registry.ts';
import { TaskStore } from '../../../packages/local-tasks/src/storage.ts';
import { queueFrom } from '../../../packages/local-tasks/src/validate.ts';
import { LOCATION } from './tasks-fixture.ts';

const DAY_MS = 86_400_000;
const target = { url: 'http://127.0.0.1:1/', method: 'POST', headers: {}, body: new Uint8Array() } as const;

/** Lives in days; undefined: by default. */
const anyLife = fc.option(fc.integer({ min: 10, max: 3653 }), { nil: undefined });
const anyQueue = fc.record({
  life: anyLife,
  ages: fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 5 }),
});

test('a sweep deletes what is too old for its queue and reads nothing younger than the shortest life', () => {
  fc.assert(
    fc.property(fc.array(anyQueue, { maxLength: 4 }), (queues) => {
      const clock = movableClock(() => Date.UTC(2026, 0, 1));
      const store = new TaskStore({ kind: 'memory' });
      const read: string[] = [];
      const tasksBefore = store.tasksBefore.bind(store);
      store.tasksBefore = (time) => {
        const tasks = tasksBefore(time);
        read.push(...tasks.map(({ name }) => name));
        return tasks;
      };
      const lives = queues.map(({ life }) => (life === undefined ? LIMITS.taskLifeMs : life * DAY_MS));
      const tasks = queues.flatMap(({ life, ages }, q) => {
        const queue = `${LOCATION}/queues/q${q}`;
        const settings = life === undefined ? {} : { taskTtl: { seconds: life * 86_400 } };
        store.putQueue({ ...queueFrom(queue, settings), state: 'paused' });
        return ages.map((days, t) => ({ name: `${queue}/tasks/${t}`, queue, q, ageMs: days * DAY_MS }));
      });
      for (const { name, queue, ageMs } of tasks) {
        const at = clock.now() - ageMs;
        const times = { createdAt: at, scheduledAt: at, deadlineMs: 15_000 };
        store.insertTask({ name, queue, named: false, ...times, target, progress: NO_PROGRESS });
      }
      const registry = new TaskRegistry({ store, clock, dispatch: () => new Promise(() => {}) });
      registry.start();
      const names = (kept: (task: (typeof tasks)[number]) => boolean) =>
        tasks.filter(kept).map(({ name }) => name);
      const left = queues.flatMap((_, q) =>
        registry.tasks(`${LOCATION}/queues/q${q}`, 0, 100).map(({ task }) => task.name),
      );
      expect(left).toEqual(names(({ q, ageMs }) => ageMs < (lives[q] ?? 0)));
      expect(read).toEqual(names(({ ageMs }) => ageMs >= Math.min(...lives)));
      registry.stop();
      store.close();
    }),
  );
});
