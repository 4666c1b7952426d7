import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { type FetchOptions, fetchFile } from '../../../lib/host/fetch.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { recordLimits } from '../../unit/host/timers.ts';
import {
  type Answer,
  answering,
  fileOf,
  half,
  openSite,
  redirect,
} from '../../unit/payload/site.ts';

const options = { signal: AbortSignal.timeout(110_000), deadlineMs: 100_000 };
const CONTENT = 'content '.repeat(10_000);
const MAX = 1_000_000;

type Test = Pick<typeof t, 'teardown'>;
async function site(t: Test, answers: Readonly<Record<string, Answer>>) {
  const opened = await openSite(answers);
  t.teardown(() => opened.close());
  return opened;
}

t.test('a partial download is resumed', async (t) => {
  let tries = 0;
  const answer: Answer = (request, response) =>
    (tries++ === 0 ? half(CONTENT) : fileOf(CONTENT))(request, response);
  const { url, asked } = await site(t, { '/f': answer });
  const target = join(t.testdir(), 'f');
  await t.rejects(fetchFile(`${url}/f`, target, MAX, options), { message: /cannot be downloaded/ });
  await fetchFile(`${url}/f`, target, MAX, options);
  t.equal(await readFile(target, 'utf8'), CONTENT);
  t.strictSame(asked, ['GET /f', `GET /f bytes=${CONTENT.length / 2}-`]);
});

t.test('if the server cannot resume, everything is downloaded again', async (t) => {
  for (const begun of ['content', CONTENT, `${CONTENT} and more`]) {
    const { url } = await site(t, { '/f': fileOf(CONTENT, { ranges: begun.length > 7 }) });
    const target = join(t.testdir({ f: begun }), 'f');
    await fetchFile(`${url}/f`, target, MAX, options);
    t.equal(await readFile(target, 'utf8'), CONTENT, `after ${begun.length} bytes`);
  }
});

const endless: Answer = (_, response) => {
  const send = () => {
    while (response.write(CONTENT));
    response.once('drain', send);
  };
  send();
};
const FAILING: readonly { name: string; answer: Answer; kind: string; says: RegExp }[] = [
  { name: 'not found', answer: answering(404), kind: 'fatal', says: /404.*Correct the URL/s },
  { name: 'forbidden', answer: answering(403), kind: 'fatal', says: /403/ },
  { name: 'overloaded', answer: answering(503), kind: 'retry', says: /503/ },
  { name: 'another scheme', answer: redirect('ftp://h/f'), kind: 'fatal', says: /leads elsewhere/ },
  {
    name: 'a file of the host',
    answer: redirect('file:///etc/hosts'),
    kind: 'fatal',
    says: /leads/,
  },
  { name: 'a circle', answer: redirect('/f'), kind: 'retry', says: /redirects/ },
  { name: 'too large', answer: fileOf('x'.repeat(MAX + 1)), kind: 'fatal', says: /too large/ },
  { name: 'without end', answer: endless, kind: 'fatal', says: /too large/ },
];
for (const { name, answer, kind, says } of FAILING) {
  t.test(`refused: ${name}`, async (t) => {
    const { url } = await site(t, { '/f': answer });
    const target = join(t.testdir(), 'f');
    await t.rejects(fetchFile(`${url}/f`, target, MAX, options), { kind, message: says });
    if (existsSync(target)) t.ok((await readFile(target)).length <= MAX, 'no more than allowed');
  });
}

t.test('a server that does not exist, and one that never answers', async (t) => {
  const { url, close } = await openSite({ '/f': () => undefined });
  const target = join(t.testdir(), 'f');
  await t.rejects(fetchFile(`${url}/f`, target, MAX, { ...options, deadlineMs: 500 }), {
    kind: 'retry',
    message: /its deadline/,
  });
  await close();
  await t.rejects(fetchFile(`${url}/f`, target, MAX, options), { message: /cannot be downloaded/ });
});

t.test('the proxy is used, except for excluded hosts', async (t) => {
  const { url, asked } = await site(t, {
    'http://far.example.com/f': fileOf('by proxy'),
    '/near': fileOf('directly'),
  });
  const proxy = { httpProxy: url, noProxy: ['127.0.0.1'] };
  const dir = t.testdir();
  await fetchFile('http://far.example.com/f', join(dir, 'f'), MAX, { ...options, proxy });
  await fetchFile(`${url}/near`, join(dir, 'near'), MAX, { ...options, proxy });
  t.strictSame(asked, ['GET http://far.example.com/f', 'GET /near']);
});

t.test('networks exempt a host from the proxy without the help of curl', async (t) => {
  const { url, asked } = await site(t, {
    '/f': fileOf('directly'),
    '/refused': answering(403),
    'http://far.example.com/f': redirect('/near'),
    'http://far.example.com/near': answering(403),
  });
  const dir = t.testdir();
  for (const network of ['127.0.0.0/8', '127.0.0.1/32', '127.1.2.3/8']) {
    const target = join(dir, network.replace('/', '-'));
    const proxy = { httpProxy: 'http://127.0.0.1:9', noProxy: [network, '10.0.0.0/8'] };
    await fetchFile(`${url}/f`, target, MAX, { ...options, proxy });
    t.equal(await readFile(target, 'utf8'), 'directly', network);
  }
  const exempt = { httpProxy: 'http://127.0.0.1:9', noProxy: ['127.0.0.0/8'] };
  const refused = fetchFile(`${url}/refused`, join(dir, 'r'), MAX, { ...options, proxy: exempt });
  t.match(await thrownBy(refused), { kind: 'fatal' }, 'it was the server that refused');
  const other = { httpProxy: url, noProxy: ['10.0.0.0/8'] };
  asked.length = 0;
  const far = fetchFile('http://far.example.com/f', join(dir, 'o'), MAX, {
    ...options,
    proxy: other,
  });
  t.match(await thrownBy(far), { kind: 'retry' });
  t.strictSame(asked, ['GET http://far.example.com/f', 'GET http://far.example.com/near']);
});

t.test('a redirect to an exempt network leaves the proxy', async (t) => {
  const server = await site(t, { '/f': fileOf('directly') });
  const proxied = await site(t, {
    'http://far.example.com/f': redirect(`${server.url}/f`),
    [`${server.url}/f`]: answering(403),
  });
  const proxy = { httpProxy: proxied.url, noProxy: ['127.0.0.0/8'] };
  const target = join(t.testdir(), 'f');
  await fetchFile('http://far.example.com/f', target, MAX, { ...options, proxy });
  t.equal(await readFile(target, 'utf8'), 'directly');
});

t.test('a refusal of a proxy is named, and tried again', async (t) => {
  const target = join(t.testdir(), 'f');
  for (const status of [400, 401, 403, 407, 451]) {
    const { url } = await site(t, { 'http://far.example.com/f': answering(status) });
    const proxy = { httpProxy: url.replace('//', '//user:secret@'), noProxy: [] };
    const failed = fetchFile('http://far.example.com/f', target, MAX, { ...options, proxy });
    const failure = await thrownBy(failed);
    const fix = status === 407 ? /Write user and password/ : /Have the proxy allow it/;
    t.match(
      failure,
      { kind: 'retry', details: { found: / the proxy 127\.0\.0\.1:/, fix } },
      `${status}`,
    );
    t.notMatch(describeError(failure), 'secret');
  }
  const { url } = await site(t, { 'http://far.example.com/f': answering(404) });
  const found = fetchFile('http://far.example.com/f', target, MAX, {
    ...options,
    proxy: { httpProxy: url, noProxy: [] },
  });
  t.match(await thrownBy(found), { kind: 'fatal', details: { found: /through the proxy/ } });
});

t.test('a proxy that refuses a tunnel is named', async (t) => {
  for (const status of [403, 407]) {
    const proxy = createServer().on('connect', (_, socket) => {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    t.teardown(() => proxy.close());
    const address = proxy.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const failed = fetchFile('https://far.example.com/f', join(t.testdir(), 'f'), MAX, {
      ...options,
      proxy: { httpsProxy: `http://127.0.0.1:${port}`, noProxy: [] },
    });
    const found = new RegExp(`the proxy 127\\.0\\.0\\.1:${port} answered ${status}`);
    t.match(await thrownBy(failed), { kind: 'retry', details: { found } });
  }
});

t.test('curl is told what to trust, and when to give up', async (t) => {
  const { programs, root } = testHost(t);
  programs.give('prlimit', 'echo "$http_proxy|$https_proxy|$no_proxy" >> "$ROOT/proxies"');
  const fetched = (url: string, proxy?: FetchOptions['proxy']) =>
    fetchFile(url, '/run/f', MAX, { ...options, ...(proxy && { proxy }) });
  await fetched('https://h/f', { httpProxy: 'http://p:1', httpsProxy: 'http://p:2', noProxy: [] });
  await fetched('http://h/f', { noProxy: ['h', '.i'] });
  const command = (redirects: string, url: string) =>
    [
      // Enforced by the kernel, whatever size the server announces.
      'prlimit --fsize=1000000 -- curl',
      // No ~/.curlrc, no patterns in the address, no other scheme, no redirect from https to http.
      '--disable --globoff --no-progress-meter --fail --location --max-redirs 5',
      `--proto =http,https --proto-redir ${redirects}`,
      // Gives up below 1 KiB/s for a minute.
      '--connect-timeout 30 --speed-limit 1024 --speed-time 60',
      '--continue-at - --output /run/f',
      '--write-out %{http_code} %{http_connect} %{url_effective} --max-filesize 1000000',
      `--url ${url}`,
    ].join(' ');
  t.equal(readFileSync(`${root}/proxies`, 'utf8'), 'http://p:1|http://p:2|\n||h,.i\n');
  t.strictSame(programs.calls(), [
    command('=https', 'https://h/f'),
    command('=http,https', 'http://h/f'),
  ]);
});

t.test("curl's exit code decides whether a retry may help", async (t) => {
  const { programs } = testHost(t);
  const ended: [script: string, kind: string, what: string, details: object][] = [
    [
      'printf " two\\n lines \\n\\n" >&2; exit 6',
      'retry',
      'cannot be downloaded',
      { expected: 'status 200', found: 'two | lines | curl ended with 6' },
    ],
    ['exit 1', 'fatal', 'leads elsewhere', { expected: 'https, redirects included' }],
    ['exit 23', 'fatal', 'cannot be stored', { found: 'curl ended with 23', fix: /memory/ }],
    ['kill -s XFSZ $$', 'fatal', 'is too large', { expected: 'at most 1000000 bytes' }],
    ['kill -s KILL $$', 'retry', 'cannot be downloaded', { found: 'curl ended with SIGKILL' }],
    ['printf 416; exit 22', 'retry', 'cannot be downloaded', { found: 'curl ended with 22' }],
    ['exit 33', 'retry', 'cannot be downloaded', { found: 'curl ended with 33' }],
    // Without the exit code for an HTTP error, the status alone is not conclusive.
    ['printf 404; exit 18', 'retry', 'cannot be downloaded', { found: 'curl ended with 18' }],
    ...[400, 401, 403, 404, 405, 410, 451].map((status): (typeof ended)[number] => [
      `printf ${status}; exit 22`,
      'fatal',
      'cannot be downloaded',
      { found: 'curl ended with 22', fix: /URL/ },
    ]),
    ...[408, 425, 429, 500, 502, 503, 504, 4040, 1404].map((status): (typeof ended)[number] => [
      `printf ${status}; exit 22`,
      'retry',
      'cannot be downloaded',
      { found: 'curl ended with 22' },
    ]),
  ];
  for (const [script, kind, what, details] of ended) {
    programs.give('prlimit', script);
    const failure = await thrownBy(fetchFile('https://h/f', '/run/none', MAX, options));
    t.match(failure, { kind, what: `https://h/f ${what}`, details }, script);
    if (script.startsWith('printf 4')) t.match(failure, { details: { found: /^curl ended/ } });
    if (kind === 'retry') t.notMatch(failure, { details: { fix: /./ } }, script);
  }
});

t.test('without curl, and without time', async (t) => {
  const { programs } = testHost(t);
  programs.give('prlimit', 'exec sleep 100');
  const limits = recordLimits(t);
  const late = fetchFile('http://h/f', '/run/f', MAX, { ...options, deadlineMs: -1 });
  t.match(await thrownBy(late), {
    kind: 'retry',
    details: { found: 'curl ended with its deadline' },
  });
  t.same(limits, [1], 'at once');
  programs.give('prlimit', 'exit 1');
  t.match(await thrownBy(fetchFile('http://h/f', '/run/f', MAX, options)), {
    details: { expected: /^http or https, redirects included$/ },
  });
  t.same(limits.slice(1), [options.deadlineMs]);
  const stopped = { ...options, signal: AbortSignal.abort(new Error('told to stop')) };
  await t.rejects(fetchFile('http://h/f', '/run/f', MAX, stopped), { message: 'told to stop' });
  const path = process.env.PATH;
  t.teardown(() => {
    process.env.PATH = path;
  });
  process.env.PATH = t.testdir();
  t.match(await thrownBy(fetchFile('http://h/f', '/run/f', MAX, options)), {
    kind: 'retry',
    details: { found: 'curl ended with ENOENT' },
  });
});

t.test('a partial download is kept if the server refuses for another reason', async (t) => {
  const { programs } = testHost(t);
  const target = join(t.testdir({ f: 'begun' }), 'f');
  for (const script of ['printf 404; exit 22', 'printf 416; exit 6']) {
    programs.give('prlimit', script);
    programs.forgetCalls();
    await t.rejects(fetchFile('https://h/f', target, MAX, options), /cannot be downloaded/);
    t.equal(programs.calls().length, 1, 'not asked again');
    t.equal(await readFile(target, 'utf8'), 'begun');
  }
});
