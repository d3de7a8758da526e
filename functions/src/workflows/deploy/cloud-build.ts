/** Converts messages of Google Cloud Build on its topic `cloud-builds` to the event that a deployment waits for. */

import type { MessageEvent, PubsubMessage } from 'cairn';
import { z } from 'zod';
import type { CiReport } from './request.ts';

/** The used part of a `Build`. */
const Build = z.object({
  status: z.string(),
  logUrl: z.string().optional(),
  substitutions: z.object({ COMMIT_SHA: z.string() }),
});

/** Final statuses of a build. Others are progress. */
const CONCLUSIONS = new Map<string, z.output<typeof CiReport>['conclusion']>([
  ['SUCCESS', 'success'],
  ['FAILURE', 'failure'],
  ['INTERNAL_ERROR', 'failure'],
  ['TIMEOUT', 'failure'],
  ['EXPIRED', 'failure'],
  ['CANCELLED', 'cancelled'],
]);

/** Undefined for a running build, and for one without a commit. */
export function ciReportOf({ json }: PubsubMessage): MessageEvent | undefined {
  const build = Build.safeParse(json);
  const conclusion = build.success ? CONCLUSIONS.get(build.data.status) : undefined;
  if (!build.success || conclusion === undefined) return undefined;
  const { substitutions, logUrl } = build.data;
  return {
    event: 'ci.finished',
    key: substitutions.COMMIT_SHA,
    data: { conclusion, ...(logUrl === undefined ? {} : { url: logUrl }) },
  };
}
