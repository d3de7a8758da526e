/** Owns the names of places at GitHub in requests, so that no name can lead to another path of its API. */
import { z } from 'zod';

/** `owner/name`, as GitHub allows them. */
export const Repository = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/, "must be 'owner/name'");

/** The number of an issue or pull request: to GitHub's API a pull request is an issue too. */
export const IssueNumber = z.int().positive();

export const CommitSha = z.string().regex(/^[0-9a-f]{40}$/, 'must be the 40 hex digits of a commit');

export function ownerAndRepo(repository: string): { owner: string; repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}
