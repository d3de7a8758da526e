/** IAM roles that the functions of an installation need, declared for codebases whose account is the installation's alone. */
import { requiresRole } from 'firebase-functions/options';
import type { CairnOptions } from './options.ts';

type RequiredRole = Parameters<typeof requiresRole>[0];

/** Required by every installation, on the project (docs/deploy.md has the purpose of each). */
const ALWAYS: readonly RequiredRole[] = [
  'roles/datastore.user',
  'roles/cloudtasks.enqueuer',
  'roles/cloudtasks.viewer',
  'roles/iam.serviceAccountUser',
  'roles/run.invoker',
  'roles/logging.logWriter',
  'roles/monitoring.metricWriter',
];

export function rolesOf({ runEventsTopic, topics = [] }: CairnOptions): readonly RequiredRole[] {
  return [
    ...ALWAYS,
    // Without the option a parameter decides, whose value is unknown while functions are read for a deployment.
    ...(runEventsTopic === '' ? [] : (['roles/pubsub.publisher'] as const)),
    ...(topics.length > 0 ? (['roles/eventarc.eventReceiver'] as const) : []),
  ];
}

/** `firebase deploy` then makes an account with these roles and runs every function of the codebase as that account. */
export function declareRoles(options: CairnOptions): void {
  for (const role of rolesOf(options)) requiresRole(role);
}
