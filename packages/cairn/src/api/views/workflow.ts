/** A workflow as callers see it: its versions, their definitions, and the number of runs on each. */
import type { Json } from '../../core/encoding/json.ts';
import { declaredType } from '../../core/flow/parts.ts';
import { iso } from '../../core/run/readable.ts';
import type { RunState } from '../../core/run/state.ts';
import type { PauseMark } from '../../core/schedule/schedule.ts';
import { pausedBy } from '../../engine/admission.ts';
import { jsonSchemaOf } from '../../engine/define/data-schema.ts';
import type { Workflow } from '../../engine/define/steps.ts';
import type { PlanChange } from '../../engine/plans/known-plans.ts';
import type { LiveVersion } from '../../ports/run-statistics.ts';
import type { RuntimeConfig } from '../../ports/runtime-config.ts';
import { type Caller, mayActAs } from '../auth.ts';
import type { View } from './run.ts';

interface WorkflowFacts {
  readonly type: string;
  /** Newest first. Empty if only live runs are left of the workflow. */
  readonly deployed: readonly Workflow[];
  readonly live: readonly LiveVersion[];
  /** Versions whose definition has changed. */
  readonly changes: readonly PlanChange[];
  readonly paused: PauseMark | undefined;
  /** False if the caller may not know: a reason may mention other tenants. */
  readonly showsReason: boolean;
  /** Without steps and triggers. */
  readonly isSummary: boolean;
}

export function workflowView(facts: WorkflowFacts): View {
  const { type, deployed, live, changes, paused, showsReason, isSummary } = facts;
  const liveRuns = new Map(live.map(({ planVersion, runs }) => [planVersion, runs]));
  const here = deployed.map((workflow) => ({
    ...(isSummary ? { planVersion: workflow.planVersion } : outline(workflow)),
    deployed: true,
    liveRuns: liveRuns.get(workflow.planVersion) ?? 0,
    changed: changedIn(changes, workflow.planVersion),
  }));
  const known = new Set(deployed.map(({ planVersion }) => planVersion));
  const missingVersions = [...liveRuns]
    .filter(([planVersion]) => !known.has(planVersion))
    .map(([planVersion, runs]) => ({ planVersion, deployed: false, liveRuns: runs }));
  const versions = [...here, ...missingVersions].sort((a, b) => b.planVersion - a.planVersion);
  const mark = paused && listedPause(paused, showsReason);
  return { type, newest: deployed[0]?.planVersion ?? null, paused: mark ?? null, versions };
}

/** A pause, for all callers. Its actor may belong to another tenant, so the name is omitted. */
function listedPause(mark: PauseMark, showsReason: boolean): { readonly [name: string]: Json } {
  return { since: iso(mark.since), ...(showsReason ? reasonOf(mark) : {}) };
}

/** Differences of the deployed definition from the recorded one of the same version; undefined: none. */
function changedIn(changes: readonly PlanChange[], planVersion: number): string[] | undefined {
  return changes.find((change) => change.planVersion === planVersion)?.differences.map(({ what }) => what);
}

/** A pause, for callers who may set pauses. */
export function pauseView(mark: PauseMark): { readonly [name: string]: Json } {
  return { since: iso(mark.since), by: mark.by, ...reasonOf(mark) };
}

function reasonOf({ reason }: PauseMark): { readonly reason?: string } {
  return reason === undefined ? {} : { reason };
}

interface Outline {
  readonly planVersion: number;
  readonly steps: { readonly id: string; readonly kind: string; readonly needs: string[] }[];
  readonly on: {
    readonly github: { readonly event: string; readonly actions?: string[] | undefined }[];
    readonly slack: { readonly command: string }[];
    readonly pubsub: { readonly topic: string; readonly delivers: boolean }[];
    readonly schedule: {
      readonly id: string;
      readonly cron: string;
      readonly timezone: string;
      readonly catchUp: string;
    }[];
  };
}

/** Steps in topological order; `needs` holds ids. */
export function nodesOf({ graph, steps }: Pick<Workflow, 'graph' | 'steps'>): Outline['steps'][number][] {
  return graph.order.map((id) => ({ id, kind: steps.get(id)?.kind ?? '', needs: [...graph.node(id).needs] }));
}

function outline({ planVersion, graph, steps, ...on }: Workflow): Outline {
  return {
    planVersion,
    steps: nodesOf({ graph, steps }),
    on: {
      github: on.github.map(({ event, actions }) => ({ event, actions: actions && [...actions] })),
      slack: on.slack.map(({ command }) => ({ command })),
      pubsub: on.pubsub.map(({ topic, deliver }) => ({ topic, delivers: deliver !== undefined })),
      schedule: on.schedules.map(({ id, cron, timezone, catchUp }) => ({ id, cron, timezone, catchUp })),
    },
  };
}

/** The switch or pause of the operators that prevents the dispatch of the run. */
export function stoppedView(
  config: RuntimeConfig,
  run: Pick<RunState, 'type' | 'status'>,
  { role }: Pick<Caller, 'role'>,
): View | undefined {
  const by = pausedBy(config, run);
  if (by !== 'paused') return by && { by };
  const type = declaredType(run.type);
  const mark = config.paused.get(type);
  return mark && { by, type, ...listedPause(mark, mayActAs(role, 'installation')) };
}

/** Largest schema as JSON; a larger one is omitted. */
export const MAX_SCHEMA_CHARS = 100_000;

/** The input schema as JSON Schema, for forms. Undefined if it is too long or cannot be converted. */
export function inputSchemaOf({ input }: Pick<Workflow, 'input'>): Json | undefined {
  const schema = jsonSchemaOf(input);
  return JSON.stringify(schema ?? '').length > MAX_SCHEMA_CHARS ? undefined : schema;
}
