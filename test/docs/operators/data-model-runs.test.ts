/** Compares the page of the data model with documents of real runs, in both directions. */
import { beforeAll, expect, test } from '@jest/globals';
import { Scene } from '../../engine/external/scene.ts';
import { Performance } from '../../sweep/performance.ts';
import { scenarios } from '../../sweep/scenarios/index.ts';
import { readDocument } from '../snippets.ts';
import { RealDocuments } from './real-documents.ts';
import { performRichRuns } from './rich-runs.ts';

/** Enough scenarios that some processes die inside a body. */
const DEATHS = 6;
const documents = new RealDocuments();

beforeAll(async () => {
  for (const scenario of scenarios.filter(({ publishes }) => !publishes)) {
    const performed = new Performance(scenario);
    documents.follow(performed.world);
    await performed.perform();
    documents.read(performed.world);
  }
  // A death in the middle makes the run a suspect, which is dispatched alone.
  for (const scenario of scenarios.slice(0, DEATHS)) {
    const { calls } = await new Performance(scenario).perform();
    const disturbances = [{ call: Math.floor(calls.made.length / 2), mode: 'before' as const }];
    const { world } = await new Performance(scenario, { disturbances, redeliveryMs: 900_000 }).perform();
    documents.read(world);
  }
  await performRichRuns(documents);
  const scene = new Scene();
  scene.keepMs = 86_400_000;
  documents.follow(scene.world);
  await scene.until(scene.once(scene.process()));
});

/** Every `run.x` and `run.x.y` on the page, except in the explanation of the notation. */
function namedOnThePage(): Set<string> {
  const page = readDocument('docs/data-model.md');
  const named = [
    ...page.matchAll(/`(run|event|checkpoint|step|effect|record)\.(\w+)((?:\.\w+)?)(?:\{([\w,]+)\})?`/g),
  ].flatMap(([, where, name, inner, list]) => [
    `${where}.${name}${inner}`,
    ...(list?.split(',').map((member) => `${where}.${name}.${member}`) ?? []),
  ]);
  return new Set(named.filter((name) => !name.endsWith('.x') && name !== 'run.resumed'));
}

test('has every member of a document of these runs', () => {
  const named = namedOnThePage();
  // A member is documented too if its nested members are.
  const isDocumented = (name: string) =>
    named.has(name) || [...named].some((row) => row.startsWith(`${name}.`));
  const members = [...documents.names].filter((name) => name.split('.').length === 2);
  expect(members.length).toBeGreaterThan(100);
  expect(members.filter((name) => !isDocumented(name))).toEqual([]);
});

test('has only members of a document of these runs', () => {
  expect([...namedOnThePage()].filter((name) => !documents.names.has(name))).toEqual([]);
});
