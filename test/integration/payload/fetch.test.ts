import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import fsp, { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { fetchPayload } from '../../../lib/payload/fetch.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { captureBuiltins } from '../../unit/host/builtins.ts';
import { recordFileOperations } from '../../unit/host/file-operations.ts';
import { type Answer, answering, fileOf, openSite } from '../../unit/payload/site.ts';

const options = { signal: AbortSignal.timeout(50_000), deadlineMs: 20_000 };
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

type Test = Pick<typeof t, 'teardown'>;
async function site(t: Test, answers: Readonly<Record<string, Answer>>) {
  const opened = await openSite(answers);
  t.teardown(() => opened.close());
  return opened;
}

const files = { 'images/etcd.tar': 'image', 'bin/kubelet': 'kubelet', 'bin/kubectl': 'kubectl' };
function description(
  digests: Readonly<Record<string, string>> = {},
  sizes: Readonly<Record<string, number>> = {},
): string {
  const digest = (path: keyof typeof files) => digests[path] ?? sha256(files[path]);
  const size = (path: keyof typeof files) => sizes[path] ?? files[path].length;
  return stringify({
    apiVersion: 'sno-agents/v1',
    kind: 'Payload',
    architecture: 'amd64',
    versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
    images: [
      {
        name: 'etcd',
        reference: 'registry.k8s.io/etcd:3.6.8-0',
        id: `sha256:${'a'.repeat(64)}`,
        archive: 'images/etcd.tar',
        size: size('images/etcd.tar'),
        sha256: digest('images/etcd.tar'),
      },
    ],
    binaries: (['kubelet', 'kubectl'] as const).map((name) => ({
      name,
      file: `bin/${name}`,
      size: size(`bin/${name}`),
      sha256: digest(`bin/${name}`),
    })),
  });
}
const answersFor = (text: string): Record<string, Answer> => ({
  '/p/payload.yaml': fileOf(text),
  ...Object.fromEntries(
    Object.entries(files).map(([path, content]) => [`/p/${path}`, fileOf(content)]),
  ),
});

t.test('a payload is downloaded once', async (t) => {
  const text = description();
  const { url, asked } = await site(t, answersFor(text));
  const folder = join(t.testdir(), 'payload');
  const source = { url: `${url}/p/`, sha256: sha256(text) };
  const operations = await recordFileOperations(t, folder);
  await fetchPayload(source, folder, options);
  t.strictSame(
    operations.seen.slice(-2),
    ['rename .payload.yaml.part -> payload.yaml', 'sync .'],
    'it counts as complete only when all else is there',
  );
  for (const path of [...Object.keys(files), 'payload.yaml']) {
    const part = path.replace(/[^/]+$/, '.$&.part');
    const parent = dirname(path);
    t.strictSame(
      operations.seen.filter((seen) => seen.includes(part)),
      [`sync ${part}`, `rename ${part} -> ${path}`],
      `a power cut leaves ${path} complete or not at all`,
    );
    const renamed = operations.seen.indexOf(`rename ${part} -> ${path}`);
    t.ok(
      operations.seen.slice(renamed).includes(`sync ${parent}`),
      `the name of ${path} is durable`,
    );
  }
  for (const [path, content] of Object.entries({ ...files, 'payload.yaml': text })) {
    t.equal(await readFile(join(folder, path), 'utf8'), content, path);
  }
  for (const path of [folder, join(folder, 'bin'), join(folder, 'images')]) {
    t.equal((await stat(path)).mode & 0o777, 0o755, path);
  }
  asked.length = 0;
  await fetchPayload(source, folder, options);
  t.strictSame(asked, [], 'a complete folder asks for nothing');
});

t.test('a partial payload is completed, whatever its partial files contain', async (t) => {
  const text = description();
  const { url, asked } = await site(t, answersFor(text));
  const folder = t.testdir({
    '.payload.yaml.part': text.slice(0, 20),
    bin: { kubelet: files['bin/kubelet'], kubectl: 'damaged' },
    images: { '.etcd.tar.part': 'of' },
  });
  await fetchPayload({ url: `${url}/p`, sha256: sha256(text) }, folder, options);
  for (const [path, content] of Object.entries(files)) {
    t.equal(await readFile(join(folder, path), 'utf8'), content, path);
  }
  t.notOk(
    asked.some((request) => request.includes('kubelet')),
    'what is there is not fetched',
  );
  t.ok(asked.includes('GET /p/payload.yaml bytes=20-'));
});

t.test('another payload.yaml is refused before it is read', async (t) => {
  const { url, asked } = await site(t, answersFor('}not even YAML'));
  const folder = join(t.testdir(), 'payload');
  const expected = sha256(description());
  await t.rejects(fetchPayload({ url: `${url}/p`, sha256: expected }, folder, options), {
    kind: 'fatal',
    code: 'payload-mismatch',
    message: new RegExp(
      `p/payload.yaml is not the file that .*expected SHA-256 ${expected}; found ${sha256('}not even YAML')}`,
    ),
  });
  t.strictSame(asked, ['GET /p/payload.yaml']);
  t.strictSame(await readdir(folder), [], 'the next attempt begins anew');
});

t.test('a file with another digest is refused and does not appear', async (t) => {
  const text = description({ 'bin/kubectl': 'b'.repeat(64) });
  const { url } = await site(t, answersFor(text));
  const folder = join(t.testdir(), 'payload');
  const source = { url: `${url}/p`, sha256: sha256(text) };
  await t.rejects(fetchPayload(source, folder, options), {
    kind: 'fatal',
    message: new RegExp(
      `bin/kubectl is not the file that .*expected SHA-256 b{64}; found ${sha256('kubectl')}`,
    ),
  });
  t.notMatch(await readdir(join(folder, 'bin')), /kubectl/);
  t.notOk(existsSync(join(folder, 'payload.yaml')), 'the folder does not count as complete');
});

t.test('a payload.yaml with paths out of the folder is refused', async (t) => {
  const text = description().replace('bin/kubelet', '../kubelet');
  const { url, asked } = await site(t, { '/p/payload.yaml': fileOf(text) });
  const folder = join(t.testdir(), 'payload');
  await t.rejects(fetchPayload({ url: `${url}/p`, sha256: sha256(text) }, folder, options), {
    kind: 'usage',
    message: /a path inside the payload/,
  });
  t.strictSame(asked, ['GET /p/payload.yaml']);
});

t.test('a payload without enough room is refused before it is downloaded', async (t) => {
  const text = description({}, { 'bin/kubelet': 2 ** 52 });
  const { url, asked } = await site(t, answersFor(text));
  const folder = join(t.testdir(), 'payload');
  await t.rejects(fetchPayload({ url: `${url}/p`, sha256: sha256(text) }, folder, options), {
    kind: 'fatal',
    code: 'disk-full',
    message: /Not enough space for the payload/,
  });
  t.strictSame(asked, ['GET /p/payload.yaml']);
});

t.test('the live host keeps some space for itself', async (t) => {
  const text = description();
  let bavail = 0;
  const { statfs } = fsp;
  captureBuiltins(t, () => {
    t.capture(fsp, 'statfs', async (path: string) =>
      Object.assign(await statfs(path), { bsize: 1, bavail }),
    );
  });
  const room = async (bytes: number) => {
    bavail = bytes;
    const { url } = await site(t, answersFor(text));
    const folder = join(t.testdir(), 'payload');
    return fetchPayload({ url: `${url}/p`, sha256: sha256(text) }, folder, options);
  };
  const needed = Object.values(files).join('').length;
  const kept = 128 * 1024 * 1024;
  await t.rejects(room(kept + needed - 1), {
    kind: 'fatal',
    message: new RegExp(`expected ${needed} bytes; found ${needed - 1}\\b`),
  });
  await t.rejects(room(0), { kind: 'fatal', message: /found 0\b/ });
  await room(kept + needed);
});

t.test('a description of another payload does not make a folder complete', async (t) => {
  const text = description();
  const { url, asked } = await site(t, answersFor(text));
  const folder = t.testdir({ 'payload.yaml': `${text}# another\n` });
  await fetchPayload({ url: `${url}/p`, sha256: sha256(text) }, folder, options);
  t.ok(asked.includes('GET /p/images/etcd.tar'));
  t.equal(await readFile(join(folder, 'payload.yaml'), 'utf8'), text);
});

t.test('the first failed file ends the others', async (t) => {
  const text = description();
  const begun = Promise.withResolvers<void>();
  const hanging = Promise.withResolvers<void>();
  const { url } = await site(t, {
    ...answersFor(text),
    '/p/bin/kubectl': (_, response) => {
      response.on('close', hanging.resolve);
      response.writeHead(200, { 'content-length': 7 });
      response.flushHeaders();
      begun.resolve();
    },
    '/p/bin/kubelet': (request, response) => {
      begun.promise.then(() => answering(404)(request, response));
    },
  });
  const folder = join(t.testdir(), 'payload');
  const patient = { signal: AbortSignal.timeout(110_000), deadlineMs: 100_000 };
  await t.rejects(fetchPayload({ url: `${url}/p`, sha256: sha256(text) }, folder, patient), {
    kind: 'fatal',
    message: /kubelet.*404/,
  });
  await hanging.promise;
  const stop = new AbortController();
  stop.abort(new Error('told to stop'));
  const stopped = { ...options, signal: stop.signal };
  await t.rejects(
    fetchPayload({ url: `${url}/p`, sha256: sha256(text) }, folder, stopped),
    /told to stop/,
  );
});

t.test('a signal ends downloads in progress', async (t) => {
  const text = description();
  const stop = new AbortController();
  const reason = new Error('told to stop');
  const { url } = await site(t, {
    ...answersFor(text),
    '/p/bin/kubectl': (_, response) => {
      response.writeHead(200, { 'content-length': 7 });
      response.flushHeaders();
      stop.abort(reason);
    },
  });
  const folder = join(t.testdir(), 'payload');
  const source = { url: `${url}/p`, sha256: sha256(text) };
  const patient = { signal: stop.signal, deadlineMs: 100_000 };
  t.equal(await thrownBy(fetchPayload(source, folder, patient)), reason);
  t.notOk(existsSync(join(folder, 'payload.yaml')));
});
