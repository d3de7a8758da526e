/** Creates successors like the API, executes them to their end, and checks them. */
import type { EventData, EventType, RunEvent } from '../../packages/cairn/src/core/run/events.ts';
import type { RunState } from '../../packages/cairn/src/core/run/state.ts';
import type { SuccessorForecast } from '../../packages/cairn/src/operations/successors/preview.ts';
import { previewSuccessor } from '../../packages/cairn/src/operations/successors/preview.ts';
import type {
  PreviewDeps,
  SuccessorRequest,
  WantedSuccessor,
} from '../../packages/cairn/src/operations/successors/request.ts';
import { startSuccessor } from '../../packages/cairn/src/operations/successors/start-successor.ts';
import { assertStored } from './soundness.ts';
import type { World } from './world.ts';

export function depsOf(world: World): PreviewDeps {
  return { ...world.deps, records: world.records };
}

type Asked = Omit<Partial<SuccessorRequest>, 'runId' | 'mode'>;

/** The successor, before its first attempt. */
export async function succeed(
  world: World,
  mode: SuccessorRequest['mode'],
  runId: string,
  more: Asked = {},
): Promise<string> {
  const request = { tenantId: 't1', actor: 'u.ann', key: undefined, requestHash: 'h', force: false };
  const outcome = await startSuccessor(depsOf(world), { ...request, ...more, runId, mode });
  if (outcome.kind === 'in_flight') throw new Error('in flight');
  return outcome.runId;
}

/** The successor after its end. */
export async function driven(
  world: World,
  mode: SuccessorRequest['mode'],
  runId: string,
  more: Asked = {},
): Promise<RunState> {
  const successor = await succeed(world, mode, runId, more);
  await world.run();
  return assertStored(world.db, successor);
}

export function preview(
  world: World,
  mode: WantedSuccessor['mode'],
  runId: string,
  more: Partial<WantedSuccessor> = {},
): Promise<SuccessorForecast> {
  return previewSuccessor(depsOf(world), { tenantId: 't1', ...more, runId, mode });
}

/** Events of one kind in the journal of the run. */
export function said<T extends EventType>(world: World, runId: string, type: T): EventData[T][] {
  const { events = [] } = world.db.runs.get(runId) ?? {};
  return (events as readonly RunEvent[]).flatMap((event) =>
    event.type === type ? [event.data as EventData[T]] : [],
  );
}

/** Ids of the reused steps, with items, in order. */
export function reusedIn(world: World, runId: string): string[] {
  return said(world, runId, 'step_reused').map(({ stepId, itemKey }) =>
    itemKey === undefined ? stepId : `${stepId}[${itemKey}]`,
  );
}

export async function resultOf(world: World, state: RunState): Promise<unknown> {
  const { result } = state;
  if (!result) return undefined;
  if ('text' in result) return JSON.parse(result.text);
  const [checkpoint] = await world.store.readCheckpoints(state.id, [result.checkpoint]);
  return JSON.parse(checkpoint?.outputText ?? 'null');
}
