import t from 'tap';
import {
  errorFromAnswer,
  errorFromWatch,
  isKubeError,
  KubeError,
  unreachable,
} from '../../../../lib/clients/kube/kube-error.ts';

t.test('errors are distinguished by kind', async (t) => {
  const busy = new KubeError('busy', 'later');
  t.equal(isKubeError(busy), true);
  t.equal(isKubeError(busy, 'conflict', 'busy'), true);
  t.equal(isKubeError(busy, 'conflict'), false);
  t.equal(isKubeError(new Error('busy')), false);
  t.match(busy, { name: 'KubeError', failureCode: 'api-error', reason: '', causes: [] });
  t.notOk('cause' in busy);
});

t.test('a missing response is an error with its cause', async (t) => {
  const cause = new Error('refused');
  const error = unreachable('GET /x', cause);
  t.match(error, { kind: 'unreachable', message: 'GET /x: refused', code: undefined });
  t.equal(error.cause, cause);
});

t.test('the status of a response decides the kind of error', async (t) => {
  const kinds = {
    rejected: [300, 400, 401, 403, 405, 408, 411, 413, 422, 428, 430, 499],
    'not-found': [404],
    conflict: [409],
    expired: [410],
    busy: [429, 500, 502, 503, 504, 599],
  };
  for (const [kind, codes] of Object.entries(kinds)) {
    for (const code of codes) t.match(errorFromAnswer('GET /x', code, ''), { kind, code });
  }
});

const status = (fields: object) => JSON.stringify({ kind: 'Status', ...fields });
const TEXTS: readonly [body: string, text: string][] = [
  [status({ message: 'namespaces "x" not found' }), 'namespaces "x" not found'],
  [status({}), '{"kind":"Status"}'],
  ['{"kind":"Other","message":"no"}', '{"kind":"Other","message":"no"}'],
  ['\n <html> \n', '<html>'],
  ['x'.repeat(400), 'x'.repeat(300)],
  ['', 'no explanation'],
  [' \n', 'no explanation'],
];

t.test("the message contains the request, the status and the server's message", async (t) => {
  for (const [body, text] of TEXTS) {
    t.equal(errorFromAnswer('GET /x', 403, body).message, `GET /x: 403 ${text}`);
  }
});

t.test('reason and causes are those of the Status', async (t) => {
  const causes = [{ reason: 'NamespaceTerminating' }, { field: 'x' }, { reason: 'Other' }];
  const body = status({ reason: 'Forbidden', details: { name: 'x', causes } });
  t.match(errorFromAnswer('GET /x', 403, body), {
    reason: 'Forbidden',
    causes: ['NamespaceTerminating', 'Other'],
  });
  for (const other of [status({}), status({ details: {} }), 'text']) {
    t.match(errorFromAnswer('GET /x', 403, other), { reason: '', causes: [] });
  }
  // A malformed Status is treated as text: none of its fields is used.
  const wrong = { message: 7, reason: 7, code: 'x', details: { causes: [{ reason: 7 }] } };
  for (const [field, value] of Object.entries(wrong)) {
    const half = status({ message: 'm', reason: 'r', [field]: value });
    t.match(errorFromAnswer('GET /x', 403, half), { reason: '', message: `GET /x: 403 ${half}` });
  }
});

t.test('the server may request a pause in seconds', async (t) => {
  const pauses: [header: string | undefined, ms: number | undefined][] = [
    ['7', 7000],
    ['0', 0],
    ['1', 1000],
    ['-1', undefined],
    ['Fri, 01 Jan 2030 00:00:00 GMT', undefined],
    [undefined, undefined],
  ];
  for (const [header, ms] of pauses) {
    t.equal(errorFromAnswer('POST /x', 429, '', header).retryAfterMs, ms, header ?? 'none');
  }
});

t.test('an error in a watch is a Status, or counts as one of the server', async (t) => {
  const gone = { kind: 'Status', code: 410, message: 'too old', reason: 'Expired' };
  t.match(errorFromWatch('GET /x', gone), {
    kind: 'expired',
    code: 410,
    reason: 'Expired',
    message: 'GET /x: 410 too old',
  });
  t.match(errorFromWatch('GET /x', { kind: 'Status' }), { kind: 'busy', code: 500 });
  t.match(errorFromWatch('GET /x', 'text'), { kind: 'busy', message: 'GET /x: 500 "text"' });
});
