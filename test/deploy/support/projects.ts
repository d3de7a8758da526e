/** Projects to deploy. Functions come from the sources of this repository: a bundle takes long, and its exports are tested elsewhere. */
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exampleProject } from '../../cli/init/project.ts';
import { type Google, newProject } from '../google/model.ts';
import { Deployment, ROOT } from './firebase.ts';

/** This repository's own: its configuration and parameters, and a page instead of the console. */
export function shipped(google: Google = newProject(), loggedIn = true): Deployment {
  const deployment = new Deployment(google, { loggedIn });
  const config = JSON.parse(readFileSync(join(ROOT, 'firebase.json'), 'utf8'));
  delete config.functions[0].predeploy;
  delete config.hosting.predeploy;
  config.hosting.public = 'public';
  deployment.write('firebase.json', JSON.stringify(config));
  deployment.write('public/index.html', '<!doctype html><title>console</title>');
  for (const path of [
    'firestore.rules',
    'firestore.indexes.json',
    'functions/package.json',
    'functions/.env',
  ])
    deployment.write(path, readFileSync(join(ROOT, path), 'utf8'));
  codebase(deployment, 'functions', `export * from '${urlOf('functions/src/index.ts')}';\n`);
  return deployment;
}

/** The example of an app after `cairn init`. */
export async function adopted(google: Google): Promise<Deployment> {
  const project = exampleProject();
  const { code, err } = await project.init(['--yes', '--no-install']);
  if (code !== 0) throw new Error(err);
  // The package that `init` looked at is only its manifest.
  rmSync(join(project.root, 'node_modules'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(project.root, 'node_modules'));
  return new Deployment(google, { folder: project.root });
}

/** One codebase with functions of Cairn and an account that an operator gave its rights. */
export function plain(google: Google, options: string): Deployment {
  const deployment = new Deployment(google);
  deployment.write(
    'firebase.json',
    JSON.stringify({ functions: [{ source: 'functions', runtime: 'nodejs24' }] }),
  );
  deployment.write('functions/package.json', '{"type":"module","main":"lib/index.js"}');
  codebase(deployment, 'functions', '');
  plainFunctions(deployment, options);
  return deployment;
}

/** The functions of such a codebase. */
export function plainFunctions(deployment: Deployment, options: string): void {
  deployment.write('functions/lib/index.js', plainText('cairn', options));
}

/** Adds a second codebase with functions of Cairn, whose names begin with its own. */
export function addCodebase(deployment: Deployment, name: string, options: string): void {
  const sources = [{ source: 'functions' }, { source: name, codebase: name }];
  const functions = sources.map((one) => ({ ...one, runtime: 'nodejs24' }));
  deployment.write('firebase.json', JSON.stringify({ functions }));
  deployment.write(`${name}/package.json`, '{"type":"module","main":"lib/index.js"}');
  codebase(deployment, name, plainText(name, options));
}

function plainText(name: string, options: string): string {
  return `import { cairnFunctions } from 'cairn/functions';\nexport const ${name} = cairnFunctions({ workflows: [], ${options} });\n`;
}

/** A project with one instance of the function kit, `calls`, configured as docs/kit.md says. */
export function withKit(google: Google): Deployment {
  const deployment = new Deployment(google);
  const instances = { calls: 'function-kits/calls/config-calls' };
  deployment.write(
    'firebase.json',
    JSON.stringify({ functions: [{ kit: 'calls', source: 'kits/calls', runtime: 'nodejs24', instances }] }),
  );
  deployment.write('kits/calls/package.json', '{"type":"module","main":"lib/index.js"}');
  deployment.write(
    `${instances.calls}/.env.${google.project}`,
    [
      'FUNCTION_DEFAULT_REGION=us-central1',
      'CALL_TARGET_URL=https://api.example.com',
      'CALL_APPROVAL=never',
      'CALL_IN_DOUBT=ask',
      'FIRESTORE_DATABASE=(default)',
      'RETENTION_DAYS=90',
    ].join('\n'),
  );
  codebase(deployment, 'kits/calls', `export * from '${urlOf('packages/calls/src/index.ts')}';\n`);
  return deployment;
}

function codebase(deployment: Deployment, source: string, text: string): void {
  deployment.write(`${source}/lib/index.js`, text);
  symlinkSync(join(ROOT, 'node_modules'), join(deployment.folder, source, 'node_modules'));
}

const urlOf = (path: string) => pathToFileURL(join(ROOT, path)).href;

let changes = 0;

/** The functions are others than at the last deployment: what has not changed is not deployed again. */
export function change(deployment: Deployment, source: string): void {
  changes += 1;
  deployment.write(`${source}/changed.txt`, `${changes}`);
}
