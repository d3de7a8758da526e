/** The input of a deployment, and the report of the finished CI. */

import { parseDuration } from 'cairn';
import { z } from 'zod';
import type { DeployPlace } from './target.ts';

const Name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/, 'must be a name of up to 100 characters');

export const DeployRequest = z
  .object({
    service: Name,
    environment: Name,
    version: Name,
    /** Version to roll back to. */
    previousVersion: Name,
    /** The commit from which the version was built. The CI's report names it. */
    sha: z.string().regex(/^[0-9a-f]{40}$/, 'must be the 40 hex digits of a commit'),
    /** Observation time before the new version counts as healthy. */
    soak: z.string().refine(isDuration, 'must be a duration like "15m"').default('15m'),
    /** True to require an approval. Absent: for production only. */
    approval: z.boolean().optional(),
  })
  .refine(({ version, previousVersion }) => version !== previousVersion, {
    path: ['version'],
    message: 'is the version already deployed',
  });

export type DeployRequest = z.output<typeof DeployRequest>;

/** Data of the event `ci.finished`, whose key is the commit. */
export const CiReport = z.object({
  conclusion: z.enum(['success', 'failure', 'cancelled']),
  url: z.string().optional(),
});

export function placeOf({ service, environment }: DeployRequest): DeployPlace {
  return { service, environment };
}

export function needsApproval({ approval, environment }: DeployRequest): boolean {
  return approval ?? environment === 'production';
}

function isDuration(text: string): boolean {
  try {
    parseDuration(text);
    return true;
  } catch {
    return false;
  }
}
