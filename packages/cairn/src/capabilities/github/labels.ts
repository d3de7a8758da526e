/**
 * `github.add-labels` and `github.remove-label` of an issue or pull request. Other labels are kept.
 *
 * Adding an existing label and removing a missing one have no effect, so the requests are idempotent
 * without a key. (A repetition would restore a label that was removed by hand in between.)
 */
import { z } from 'zod';
import { type Binding, defineBinding, defineCapability } from '../../engine/define/capability.ts';
import type { GithubApi } from './api.ts';
import { IssueNumber, ownerAndRepo, Repository } from './names.ts';

/** GitHub's limits for a name and for the labels of an issue. */
const Label = z
  .string()
  .min(1)
  .max(50)
  .refine((name) => name !== '.' && name !== '..', 'would change the path of the request');
const MAX_LABELS = 100;

export const addLabels = defineCapability({
  id: 'github.add-labels',
  sideEffects: 'write',
  idempotency: 'required',
  request: z.object({
    repository: Repository,
    number: IssueNumber,
    /** GitHub creates labels that the repository does not have. */
    labels: z.array(Label).min(1).max(MAX_LABELS),
  }),
  /** All labels of the issue after the request. */
  response: z.object({ labels: z.array(z.string()) }),
});

const Named = z.array(z.object({ name: z.string() }));

const ROUTE = '/repos/{owner}/{repo}/issues/{issue_number}/labels';

export function addLabelsBinding(api: GithubApi): Binding {
  return defineBinding(addLabels, {
    id: 'github.add-labels.octokit',
    async call({ repository, number, labels }, { signal, traceparent }) {
      const all = await api.act({
        what: `labels for ${repository}#${number}`,
        signal,
        traceparent,
        route: `POST ${ROUTE}`,
        parameters: { ...ownerAndRepo(repository), issue_number: number, labels },
      });
      return { labels: Named.parse(all).map(({ name }) => name) };
    },
  });
}

export const removeLabel = defineCapability({
  id: 'github.remove-label',
  sideEffects: 'write',
  idempotency: 'required',
  request: z.object({ repository: Repository, number: IssueNumber, label: Label }),
  response: z.object({}),
});

/** A 404 may have other reasons, such as a repository that the token may not read. */
const GONE = /^Label does not exist/;

export function removeLabelBinding(api: GithubApi): Binding {
  return defineBinding(removeLabel, {
    id: 'github.remove-label.octokit',
    async call({ repository, number, label }, { signal, traceparent }) {
      await api.ensure(
        {
          what: `the removal of a label of ${repository}#${number}`,
          signal,
          traceparent,
          route: `DELETE ${ROUTE}/{name}`,
          parameters: { ...ownerAndRepo(repository), issue_number: number, name: label },
        },
        ({ status, message }) => status === 404 && GONE.test(message),
      );
      return {};
    },
  });
}
