/** Text that `cairn dev` prints when all servers are ready. Pure. */
import { relative } from 'node:path';
import type { LocalCloud } from '../cloud.ts';
import type { Paint } from './log-line.ts';
import type { DevCodebase } from './project.ts';

type Addresses = Pick<
  LocalCloud,
  'gateway' | 'functionsUrl' | 'site' | 'firestore' | 'tasks' | 'pubsub' | 'apiKey' | 'functions'
>;

interface GreetingContext {
  readonly root: string;
  readonly codebases: readonly DevCodebase[];
  readonly paint: Paint;
}

export function greeting(addresses: Addresses, { root, codebases, paint }: GreetingContext): string {
  const { gateway, functionsUrl, site, firestore, tasks, pubsub, apiKey, functions } = addresses;
  const rows = [
    ['console', `${gateway}   (the API is under /v1)`],
    ['API key', `${apiKey}   (npx cairn uses it automatically)`],
    ['functions', `${functionsUrl}/NAME   (${functions.join(', ')})`],
    ...(site === undefined ? [] : [['site', `${site}   (hosting of firebase.json)`]]),
    ['Firestore', `${firestore}   (FIRESTORE_EMULATOR_HOST)`],
    ['Tasks', `${tasks}   (CLOUD_TASKS_EMULATOR_HOST)`],
    ['Pub/Sub', `${pubsub}   (PUBSUB_EMULATOR_HOST)`],
    ...codebases.map(({ name, module }) => ['watches', `${name}: ${relative(root, module)}`]),
  ];
  const lines = rows.map(([name = '', text = '']) => `  ${paint('bold', name.padEnd(11))}${text}`);
  return `\n${lines.join('\n')}\n\nSource changes are served immediately. Ctrl-C stops everything; runs continue after the next start.\n\n`;
}
