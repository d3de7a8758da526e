import { describe, expect, test } from '@jest/globals';
import { EVENT_TTL_MS, MAX_WAITING } from '../../../packages/cairn/src/core/mailbox/limits.ts';
import { CHANGE_PATIENCE_MS } from '../../../packages/cairn/src/engine/mailbox/change.ts';
import { joinMailbox } from '../../../packages/cairn/src/engine/mailbox/join.ts';
import { leaveMailbox } from '../../../packages/cairn/src/engine/mailbox/leave.ts';
import { deliverEvent } from '../../../packages/cairn/src/operations/events/deliver-event.ts';
import type { MailboxStore } from '../../../packages/cairn/src/ports/mailbox-store.ts';
import { OutcomeUnknown } from '../../../packages/cairn/src/ports/store-errors.ts';
import { intercept } from '../../support/intercept.ts';
import {
  announce,
  end,
  leave,
  world as newWorld,
  PLACE,
  place,
  waitingRun,
} from '../../support/waiting-runs.ts';
import type { World } from '../../support/world.ts';

const NEVER = () => false;

function send(world: World, eventId: string, data: unknown = 1) {
  return deliverEvent(world.deps, { ...PLACE, eventId, data });
}

function join(world: World, runId: string, waitId = 'any.1') {
  return joinMailbox(world.deps, { ...PLACE, runId, waitId });
}

/** Records the calls of the store. */
function counted(world: World): { readonly calls: string[]; readonly mailboxes: MailboxStore } {
  const calls: string[] = [];
  const mailboxes = intercept(world.deps.mailboxes, ({ method }, proceed) => {
    calls.push(method);
    return proceed();
  });
  return { calls, mailboxes };
}

describe('a wait that joins', () => {
  test('is listed once, however often it joins, at the cost of one read', async () => {
    const world = newWorld();
    const runId = await waitingRun(world);
    expect(await join(world, runId)).toBeUndefined();
    const { calls, mailboxes } = counted(world);
    expect(
      await joinMailbox({ ...world.deps, mailboxes }, { ...PLACE, runId, waitId: 'any.1' }),
    ).toBeUndefined();
    expect(calls).toEqual(['read']);
    expect((await place(world))?.waiting).toEqual([{ runId, waitId: 'any.1' }]);
  });

  test('receives the oldest event that it accepts, and the same one again when it joins again', async () => {
    const world = newWorld();
    await send(world, 'e1', 'no');
    await send(world, 'e2', 'yes');
    await send(world, 'e3', 'yes');
    const runId = await waitingRun(world);
    const ask = () =>
      joinMailbox(world.deps, {
        ...PLACE,
        runId,
        waitId: 'any.1',
        accepts: ({ dataText }) => dataText === '"yes"',
      });
    expect(await ask()).toMatchObject({ eventId: 'e2', takenBy: { runId, waitId: 'any.1' } });
    expect(await ask()).toMatchObject({ eventId: 'e2' });
    expect((await place(world))?.waiting).toEqual([]);
  });

  test('receives its event even after its time, because the event was in time', async () => {
    const world = newWorld();
    await send(world, 'e1');
    const runId = await waitingRun(world);
    await join(world, runId);
    world.clock.jump(EVENT_TTL_MS);
    expect(await join(world, runId)).toMatchObject({ eventId: 'e1' });
  });

  test('is refused where too many wait, with the limit', async () => {
    const world = newWorld();
    const waiting = Array.from({ length: MAX_WAITING }, (_, i) => ({ runId: `run_${i}`, waitId: 'w' }));
    await world.mailboxes.write(PLACE, { ...PLACE, waiting, buffered: [], delivered: [] }, undefined);
    await expect(join(world, 'run_more')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { limit: MAX_WAITING },
    });
    expect(await join(world, 'run_7', 'w')).toBeUndefined();
  });

  test('receives an event that an ended run took and did not return', async () => {
    const world = newWorld();
    await send(world, 'e1');
    const dead = await waitingRun(world);
    await join(world, dead);
    // The drive froze during its join, and outlived the run.
    await end({ ...world.deps, mailboxes: newWorld().mailboxes }, dead);
    const runId = await waitingRun(world);
    expect(await join(world, runId)).toMatchObject({ eventId: 'e1', takenBy: { runId } });
  });

  test('leaves an event to the run that took it and still waits for it', async () => {
    const world = newWorld();
    await send(world, 'e1');
    const first = await waitingRun(world);
    await join(world, first);
    const second = await waitingRun(world);
    expect(await join(world, second)).toBeUndefined();
    expect((await world.folded(first)).received).toEqual(['e1']);
    expect(await place(world)).toMatchObject({
      waiting: [{ runId: second }],
      buffered: [],
      delivered: [{ deliveredTo: [first] }],
    });
  });
});

describe('a run that leaves', () => {
  test('without having joined, or twice, costs one read', async () => {
    const world = newWorld();
    const runId = await waitingRun(world);
    for (const before of [0, 1]) {
      if (before) {
        await join(world, runId);
        await join(world, 'run_other');
        await leaveMailbox(world.deps, { ...PLACE, runId }, NEVER);
      }
      const { calls, mailboxes } = counted(world);
      await leaveMailbox({ ...world.deps, mailboxes }, { ...PLACE, runId }, NEVER);
      expect(calls).toEqual(['read']);
    }
    expect((await place(world))?.waiting).toEqual([{ runId: 'run_other', waitId: 'any.1' }]);
  });

  test('as the last one deletes the document', async () => {
    const world = newWorld();
    await join(world, 'run_1');
    await leaveMailbox(world.deps, { ...PLACE, runId: 'run_1' }, NEVER);
    expect(await place(world)).toBeUndefined();
  });

  test('for one of its waits stays for the others', async () => {
    const world = newWorld();
    await join(world, 'run_1', 'one.1');
    await join(world, 'run_1', 'two.1');
    await leaveMailbox(world.deps, { ...PLACE, runId: 'run_1', waitId: 'one.1' }, NEVER);
    expect((await place(world))?.waiting).toEqual([{ runId: 'run_1', waitId: 'two.1' }]);
  });

  test('returns an event that it took but did not record: to a waiting run, or to the next one', async () => {
    const world = newWorld();
    await send(world, 'e1');
    await send(world, 'e2');
    await join(world, 'run_gone');
    const waiting = await waitingRun(world);
    await send(world, 'e3', 'x');
    const [taken] = (await place(world))?.buffered ?? [];
    expect(taken).toMatchObject({ eventId: 'e1', takenBy: { runId: 'run_gone' } });
    // The list contains a wait that accepts none of the other events.
    await joinMailbox(world.deps, { ...PLACE, runId: waiting, waitId: 'any.1', accepts: () => false });
    await leaveMailbox(world.deps, { ...PLACE, runId: 'run_gone' }, NEVER);
    expect((await world.folded(waiting)).received).toEqual(['e1']);
    expect((await place(world))?.buffered.map(({ eventId }) => eventId)).toEqual(['e2', 'e3']);
  });

  test('keeps an event that it recorded, and the mailbox remembers that', async () => {
    const world = newWorld();
    await send(world, 'e1');
    const runId = await waitingRun(world);
    await announce(world.deps, runId);
    await leave(world.deps, await world.folded(runId));
    expect(await place(world)).toMatchObject({
      waiting: [],
      buffered: [],
      delivered: [{ eventId: 'e1', deliveredTo: [runId] }],
    });
  });
});

describe('an unreachable mailbox', () => {
  test('is retried for a while, and then the outcome is reported as unknown', async () => {
    const world = newWorld();
    const mailboxes = intercept(world.deps.mailboxes, ({ method }, proceed) =>
      method === 'write' ? Promise.reject(new OutcomeUnknown('write', 'down')) : proceed(),
    );
    const begun = world.clock.now();
    let end: unknown;
    joinMailbox({ ...world.deps, mailboxes }, { ...PLACE, runId: 'run_1', waitId: 'w' }).catch((error) => {
      end = error;
    });
    await world.run(() => end !== undefined);
    expect(end).toBeInstanceOf(OutcomeUnknown);
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(CHANGE_PATIENCE_MS);
  });
});
