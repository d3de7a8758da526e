/** Lines that a second `cairn init` adds to `.gitignore` after another version of the packages was installed. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { IGNORES, install, installed, projectWith, TARBALLS, withEarlierIgnores } from './installed.ts';

test('adds the lines of .gitignore that an earlier version did not write, and no others, and is undone', async () => {
  const before = fc.constantFrom(null, 'node_modules/\n', '*.tgz\n*.local\n', 'node_modules\r\n*.log\r\n');
  const own = fc.option(fc.constantFrom('dist/\n', 'cairn/notes\n'), { nil: '' });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ before, own, isTakenOut: fc.boolean(), second: installed }),
      async ({ before, own, isTakenOut, second }) => {
        const project = projectWith({ version: '0.1.0', content: 'earlier build' });
        await project.init(['--yes']);
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
