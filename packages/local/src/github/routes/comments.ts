/** Comments on issues and pull requests. */
import type { StandInReply, StandInRequest, StandInRoute } from '../../stand-in/route.ts';
import type { StandInStore, StoredItem } from '../../stand-in/store.ts';
import { ACTOR, invalid, members, NOT_FOUND, paged, repositoryOf, sliceOf, timeOf } from '../pages.ts';

interface Comment {
  readonly repository: string;
  readonly issue: string;
  readonly body: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const KIND = 'comment';
const MAX_BODY_CHARS = 65_536;
const OF_ISSUE = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
const ONE = '/repos/{owner}/{repo}/issues/comments/{comment_id}';

const placeOf = (request: StandInRequest) =>
  `${repositoryOf(request)}#${request.params.issue_number}`.toLowerCase();

export const commentRoutes: readonly StandInRoute[] = [
  {
    name: `POST ${OF_ISSUE}`,
    changes: true,
    answer(request, store) {
      const text = bodyIn(request);
      if (typeof text !== 'string') return text;
      const at = timeOf(request.now);
      const comment: Comment = {
        repository: repositoryOf(request),
        issue: String(request.params.issue_number),
        body: text,
        createdAt: at,
        updatedAt: at,
      };
      const id = store.add(KIND, placeOf(request), comment);
      return { status: 201, body: shown(request, { id, value: comment }) };
    },
  },
  {
    name: `GET ${OF_ISSUE}`,
    changes: false,
    answer(request, store) {
      const comments = store.list<Comment>(KIND, placeOf(request), sliceOf(request));
      return paged(
        request,
        comments.map((comment) => shown(request, comment)),
        {
          path: `/repos/${repositoryOf(request)}/issues/${request.params.issue_number}/comments`,
          total: store.count(KIND, placeOf(request)),
        },
      );
    },
  },
  {
    name: `GET ${ONE}`,
    changes: false,
    answer: (request, store) => withComment(request, store, (comment) => ok(shown(request, comment))),
  },
  {
    name: `PATCH ${ONE}`,
    changes: true,
    answer: (request, store) =>
      withComment(request, store, ({ id, value }) => {
        const text = bodyIn(request);
        if (typeof text !== 'string') return text;
        const changed = { ...value, body: text, updatedAt: timeOf(request.now) };
        store.put(KIND, id, changed);
        return ok(shown(request, { id, value: changed }));
      }),
  },
  {
    name: `DELETE ${ONE}`,
    changes: true,
    answer: (request, store) =>
      withComment(request, store, ({ id }) => {
        store.remove(KIND, id);
        return { status: 204, body: undefined };
      }),
  },
];

function withComment(
  request: StandInRequest,
  store: StandInStore,
  act: (comment: StoredItem<Comment>) => StandInReply,
): StandInReply {
  const comment = store.get<Comment>(KIND, Number(request.params.comment_id));
  const isHere = comment?.value.repository.toLowerCase() === repositoryOf(request).toLowerCase();
  return comment && isHere ? act(comment) : NOT_FOUND;
}

/** The text of the comment, or a refusal if it is invalid. */
function bodyIn({ body }: StandInRequest): string | StandInReply {
  const { body: text } = members(body);
  if (typeof text !== 'string' || text.trim() === '')
    return invalid('IssueComment', 'body', 'Body cannot be blank');
  if (text.length > MAX_BODY_CHARS)
    return invalid('IssueComment', 'body', `body is too long (maximum is ${MAX_BODY_CHARS} characters)`);
  return text;
}

function shown({ url }: StandInRequest, { id, value }: StoredItem<Comment>) {
  const { repository, issue, body, createdAt, updatedAt } = value;
  return {
    id,
    url: `${url}/repos/${repository}/issues/comments/${id}`,
    html_url: `https://github.com/${repository}/pull/${issue}#issuecomment-${id}`,
    issue_url: `${url}/repos/${repository}/issues/${issue}`,
    body,
    user: ACTOR,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

function ok(body: unknown): StandInReply {
  return { status: 200, body };
}
