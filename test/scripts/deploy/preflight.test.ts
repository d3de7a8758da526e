import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ProjectFacts, problemsOf, RIGHTS } from '../../../scripts/deploy/preflight.ts';
import { readDocument } from '../../docs/snippets.ts';

const READY: ProjectFacts = {
  project: 'p',
  number: '1',
  billing: true,
  missing: [],
  buildAccount: '1-compute@developer.gserviceaccount.com',
  buildRoles: ['roles/cloudbuild.builds.builder'],
  disabledApis: [],
  absentTopic: undefined,
  database: { name: '(default)', state: 'usable' },
};
const ALL = new Set(['functions', 'firestore', 'hosting']);
const FIRST = { targets: ALL, deployedBefore: false, createdDatabase: '(default)' };
const FUNCTIONS = { ...FIRST, targets: new Set(['functions']) };
const codes = (facts: Partial<ProjectFacts>, wanted = FIRST) =>
  problemsOf({ ...READY, ...facts }, wanted).map(({ code }) => code);

describe('before a deployment', () => {
  test.each<[Partial<ProjectFacts>, string[]]>([
    [{}, []],
    [{ billing: false }, ['BILLING']],
    [{ buildRoles: [] }, ['BUILDER']],
    [{ buildRoles: ['roles/editor'] }, []],
    [{ buildRoles: undefined }, []],
    [{ disabledApis: ['iam.googleapis.com'] }, ['API']],
    [{ absentTopic: 'run-events' }, ['TOPIC']],
    [{ missing: ['run.services.setIamPolicy'] }, ['RIGHTS']],
    [{ database: { name: '(default)', state: 'absent' } }, []],
    [{ database: { name: 'runs', state: 'absent' } }, ['DATABASE']],
    [{ database: { name: '(default)', state: 'datastore-mode' } }, ['DATABASE']],
    [{ database: { name: '(default)', state: 'unknown' } }, []],
    [{ disabledApis: ['firestore.googleapis.com'] }, []],
  ])('%j results in %j', (facts, wanted) => {
    expect(codes(facts)).toEqual(wanted);
  });

  test('functions without the target firestore need a database, and its API', () => {
    const database = { name: '(default)', state: 'absent' } as const;
    expect(codes({ database }, FUNCTIONS)).toEqual(['DATABASE']);
    expect(codes({ disabledApis: ['firestore.googleapis.com'] }, FUNCTIONS)).toEqual(['API']);
  });

  test('a permission is required only for a target that needs it, and some only for the first deployment', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...RIGHTS),
        fc.subarray([...ALL]),
        fc.boolean(),
        (right, targets, before) => {
          const problems = problemsOf(
            { ...READY, missing: [right.permission] },
            { ...FIRST, targets: new Set(targets), deployedBefore: before },
          );
          const isNeeded = targets.includes(right.target) && !(right.once && before);
          expect(problems.map(({ code }) => code)).toEqual(isNeeded ? ['RIGHTS'] : []);
          if (isNeeded) expect(problems[0]?.help).toContain(right.role);
        },
      ),
    );
  });

  test('a deployment of the console needs nothing that only the functions need', () => {
    const lacking = {
      billing: false,
      buildRoles: [],
      disabledApis: ['iam.googleapis.com'],
      absentTopic: 'x',
      database: { name: '(default)', state: 'absent' },
    } as const;
    expect(codes(lacking, { ...FIRST, targets: new Set(['hosting']) })).toEqual([]);
  });
});

test('docs/deploy.md names each role that whoever deploys needs', () => {
  const [, table = ''] =
    /\*\*The deploying account\*\*[\s\S]*?\n((?:\|.*\n)+)/.exec(readDocument('docs/deploy.md')) ?? [];
  for (const { role } of RIGHTS) expect(table).toContain(`\`${role}\``);
});
