/** Lines that a second `cairn init` adds to `.gitignore` after another version of the packages was installed. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { IGNORES, install, installed, projectWith, TARBALLS, withEarlierIgnores } from './installed.ts';

test('adds only the lines of .gitignore that an earlier version did not write, and can be undone', async () => {
  const before = fc.constantFrom(null, 'node_modules/\n', '*.tgz\n*.local\n', 'node_modules\r\n*.log\r\n');
  const own = fc.option(fc.constantFrom('dist/\n', 'cairn/notes\n'), { nil: '' });
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        before,
        own,
        isTakenOut: fc.boolean(),
        language: fc.constantFrom('ts', 'js'),
        second: installed,
      }),
      async ({ before, own, isTakenOut, language, second }) => {
        const project = projectWith({ version: '0.1.0', content: 'earlier build' });
        await project.init(['--yes', '--language', language]);
        // In JavaScript, a `tsconfig.json` belongs to the user, for example for `checkJs`.
        if (language === 'js') project.write('cairn/tsconfig.json', '{}');
        withEarlierIgnores(project, before);
        const edited = `${before ?? ''}${isTakenOut ? '' : '.cairn/\n'}${own}`;
        project.write(IGNORES, edited);
        install(project, second);
        const { out } = await project.init(['--yes', '--json']);
        expect(JSON.parse(out).changes.map(({ path }: { path: string }) => path)).toContain(IGNORES);
        const { [IGNORES]: text = '' } = project.files();
        const added = text.slice(edited.length).trim().split(/\r?\n/);
        expect([text.startsWith(edited), added.includes(TARBALLS)]).toEqual([
          true,
          second.content !== undefined,
        ]);
        expect(added).not.toContain('.cairn/');
        expect(added.includes('cairn/lib/')).toBe(language === 'ts');
        expect(text).toContain('*.local');
        project.write(IGNORES, `${text}later/\n`);
        expect((await project.init(['--yes'])).out).toContain('Nothing to change');
        const isEdited = isTakenOut || own !== '';
        project.write(IGNORES, text);
        expect((await project.init(['--undo', '--yes'])).code).toBe(0);
        const { [IGNORES]: left } = project.files();
        project.dispose();
        expect(left).toBe(isEdited ? `${before ?? ''}${own}` : (before ?? undefined));
      },
    ),
    { numRuns: 20 },
  );
});

test('if only .gitignore lacks lines, nothing is installed and no deployment is suggested', async () => {
  const same = { version: '0.2.0', content: undefined };
  const project = projectWith(same);
  await project.init(['--yes']);
  withEarlierIgnores(project, null);
  const { out, err, programs } = await project.init(['--yes']);
  expect(programs).toEqual([]);
  expect(err).toContain("adds lines of .gitignore for 'cairn'");
  expect(out).toBe("✓ .gitignore has the lines of Cairn 0.2.0 for 'cairn'.\n");

  withEarlierIgnores(project, null);
  project.remove('cairn/node_modules');
  const { next, changes, installed } = JSON.parse((await project.init(['--yes', '--json'])).out);
  expect(changes.map(({ path }: { path: string }) => path)).toContain(IGNORES);
  expect([next, installed]).toEqual([[expect.objectContaining({ why: 'packages of the codebase' })], []]);
  project.dispose();
});
