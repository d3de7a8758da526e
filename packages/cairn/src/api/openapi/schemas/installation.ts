/** Schemas without a run: health, workflows, runtime configuration, API clients, idempotency records. */
import { z } from 'zod';
import { CATCH_UPS } from '../../../core/schedule/schedule.ts';
import { ROLES } from '../../auth.ts';
import { Count, Time, Value } from './common.ts';

export const Health = z.object({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  store: z.enum(['ok', 'unreachable']),
});

export const Me = z.object({
  principal: z
    .string()
    .describe('Actor as recorded in journals: `c.` and a client id, or `u.` and a user id.'),
  tenantId: z.string(),
  role: z.enum(ROLES).describe('Each role includes those before it.'),
});

const Version = z.object({
  planVersion: z.int().min(1),
  deployed: z.boolean(),
  liveRuns: Count,
  changed: z
    .array(z.string())
    .optional()
    .describe(
      'Differences between the deployed definition and the one the version had when its first run started. Absent if there are none, and with `summary=true`.',
    ),
  steps: z
    .array(z.object({ id: z.string(), kind: z.string(), needs: z.array(z.string()) }))
    .optional()
    .describe('Present if the version is deployed, unless `summary=true`.'),
  on: z
    .object({
      github: z.array(z.object({ event: z.string(), actions: z.array(z.string()).optional() })),
      slack: z.array(z.object({ command: z.string() })),
      pubsub: z
        .array(z.object({ topic: z.string(), delivers: z.boolean() }))
        .describe('Topics whose messages start runs or, with `delivers`, are events for waiting runs.'),
      schedule: z
        .array(
          z.object({ id: z.string(), cron: z.string(), timezone: z.string(), catchUp: z.enum(CATCH_UPS) }),
        )
        .describe('Schedules that the newest version declares. See /v1/schedules/{id}.'),
    })
    .optional()
    .describe(
      'Triggers that start runs, besides the API. They start the newest version only. Absent with `summary=true`.',
    ),
});

const Workflow = z.object({
  type: z.string(),
  newest: z.int().nullable(),
  paused: z.object({ since: Time, reason: z.string().optional() }).nullable(),
  versions: z.array(Version),
});

export const WorkflowList = z.object({
  killSwitch: z.boolean(),
  restored: z
    .boolean()
    .optional()
    .describe('True while no run moves because the database was restored. Absent: it never was.'),
  items: z.array(Workflow),
  countedVersions: Count.optional(),
});

export const WorkflowInput = z.object({
  type: z.string(),
  planVersion: z.int(),
  schema: Value.optional().describe(
    'JSON Schema (draft 2020-12) of the input. It may allow more than the workflow does. Absent if it is longer than 100,000 characters or cannot be expressed.',
  ),
});

const PauseMark = z.object({ since: Time, by: z.string(), reason: z.string().optional() });

export const WorkflowPaused = z.object({ type: z.string(), paused: PauseMark });
export const WorkflowUnpaused = z.object({ type: z.string(), paused: z.null(), woken: Count });

export const Runtime = z.object({ killSwitch: z.boolean(), paused: z.record(z.string(), PauseMark) });
export const RuntimeSet = z.object({ killSwitch: z.boolean(), woken: Count });

export const Restore = z.object({
  home: z.string().describe('Project and database in use.'),
  held: z.boolean(),
  restoredAt: Time.optional().describe(
    'Absent if the database was never restored or the restore is not marked yet.',
  ),
  by: z.string().optional().describe('`system`: detected automatically.'),
});
export const RestoreReleased = Restore.extend({ woken: Count });

export const Client = z.object({
  id: z.string(),
  name: z.string().optional(),
  role: z.enum(ROLES).nullable(),
  revoked: z.boolean(),
  createdAt: Time,
  createdBy: z.string().optional(),
  oldSecretsEndAt: z.array(Time),
});
export const ClientList = z.object({
  items: z.array(Client),
  more: z.literal(true).optional(),
  unreadable: z
    .array(z.string())
    .optional()
    .describe('Clients whose documents cannot be read. Their keys are not accepted.'),
});
export const ClientWithSecret = Client.extend({
  secret: z.string().optional().describe('The whole key. Only in the response to the first request.'),
  secretShown: z.literal(true).optional().describe('Replaces `secret` in the response to a repetition.'),
});

export const IdempotencyRecord = z.object({
  key: z.string(),
  status: z.enum(['processing', 'completed', 'failed']),
  attempts: Count,
  runId: z.string().optional(),
  response: z.object({ status: z.int(), body: Value }).optional().describe('Response to a repetition.'),
  error: z.string().optional(),
  createdAt: Time,
  updatedAt: Time,
  expiresAt: Time,
});
