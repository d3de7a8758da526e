/** Commands that change a Google Cloud project, so that no test can run them. They are compared with the options of their tools. */
import { wordsOf } from '../../cli/support/said-in-docs.ts';

/**
 * Options of the commands in documents, from the help of Google Cloud SDK 528 and of the firebase-tools pinned in emulators/. Every command also takes
 * `--project`.
 */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  'gcloud alpha monitoring policies create': ['policy-from-file', 'notification-channels'],
  'gcloud auth print-access-token': [],
  'gcloud beta monitoring channels create': ['display-name', 'type', 'channel-labels'],
  'gcloud billing budgets create': [
    'billing-account',
    'display-name',
    'filter-projects',
    'budget-amount',
    'threshold-rule',
  ],
  'gcloud firestore backups schedules create': ['database', 'recurrence', 'retention'],
  'gcloud firestore databases update': ['database', 'enable-pitr'],
  'gcloud firestore import': ['database'],
  'gcloud monitoring dashboards create': ['config-from-file'],
  'gcloud projects add-iam-policy-binding': ['member', 'role', 'condition'],
  'gcloud pubsub topics create': [],
  'gcloud run services describe': ['region', 'format'],
  'gcloud scheduler jobs list': ['location'],
  'gcloud scheduler jobs resume': ['location'],
  'gcloud scheduler jobs run': ['location'],
  'gcloud services enable': [],
  'gcloud tasks queues create': [
    'location',
    'max-dispatches-per-second',
    'max-concurrent-dispatches',
    'max-attempts',
    'min-backoff',
    'max-backoff',
    'max-doublings',
  ],
  'gcloud tasks queues delete': ['location'],
  'gcloud tasks queues describe': ['location'],
  'gcloud tasks queues resume': ['location'],
  'firebase deploy': ['only', 'force'],
  'firebase emulators:start': [],
  'firebase firestore:databases:create': ['location'],
  'firebase functions:artifacts:setpolicy': [],
  'firebase firestore:databases:delete': [],
  'firebase functions:delete': [],
  'firebase functions:kits:install': ['package', 'directory'],
  'firebase functions:kits:uninstall': ['instance'],
  'firebase functions:list': [],
  'firebase functions:secrets:set': [],
  'firebase hosting:sites:create': [],
  'firebase login': [],
};

/** Commands that the documents must show, so that this table has no unused ones. */
export const KNOWN_COMMANDS: readonly string[] = Object.keys(KNOWN);

/** `firebase …` of a command of `npm run firebase -- …`; otherwise the command. */
export function ofGoogle(command: string): string {
  return command.replace(/^npm run firebase -- /, 'firebase ');
}

/** The table's entry for a command, or undefined. */
export function knownOf(command: string): string | undefined {
  const googleCommand = ofGoogle(command);
  return KNOWN_COMMANDS.filter((known) => `${googleCommand} `.startsWith(`${known} `)).toSorted(
    (a, b) => b.length - a.length,
  )[0];
}

/** Fault of a command, or undefined. */
export function faultOf(command: string): string | undefined {
  const known = knownOf(command);
  if (known === undefined) return 'no such command';
  const words = wordsOf(ofGoogle(command));
  const options = words
    .filter((word) => word.startsWith('--'))
    .map((word) => word.slice(2).split('=')[0] ?? '');
  const unknown = options.find((name) => name !== 'project' && !KNOWN[known]?.includes(name));
  if (unknown !== undefined) return `no option --${unknown}`;
  const project = words.includes('--project') ? words[words.indexOf('--project') + 1] : 'PROJECT';
  return project === 'PROJECT' ? undefined : `a project that may exist: ${project}`;
}
