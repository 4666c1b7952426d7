import t from 'tap';
import { again } from '../../../../cli/payload/fetch/again.ts';
import { checksumIn } from '../../../../cli/payload/fetch/checksums.ts';
import { readManifest } from '../../../../cli/payload/fetch/manifest.ts';
import {
  downloadMirrors,
  mirroredImage,
  mirroredUrl,
  registryMirrors,
} from '../../../../cli/payload/fetch/mirrors.ts';
import { skopeoFailure } from '../../../../cli/payload/fetch/skopeo.ts';
import { companionsOf, upstreamParts } from '../../../../cli/payload/fetch/upstream.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';

const PAUSE = 'registry.k8s.io/pause:3.10.2';
const KUBELET = 'https://dl.k8s.io/release/v1.37.2/bin/linux/amd64/kubelet';
const SUM = 'ab'.repeat(32);

t.test('the address on a mirror follows from the original one', async (t) => {
  const faults: string[] = [];
  const mirrors = registryMirrors(['m.example:5000/all/', 'docker.io=hub.example/x'], faults);
  t.equal(mirroredImage(PAUSE, mirrors), `m.example:5000/all/${PAUSE}`);
  t.equal(
    mirroredImage('docker.io/flannel/flannel:v1', mirrors),
    'hub.example/x/flannel/flannel:v1',
  );
  t.equal(mirroredImage(PAUSE, registryMirrors([], faults)), PAUSE);
  const sites = downloadMirrors(['https://m.example/f', 'github.com=https://g.example'], faults);
  t.equal(mirroredUrl(KUBELET, sites), KUBELET.replace('https://', 'https://m.example/f/'));
  t.equal(mirroredUrl('https://github.com/a/b', sites), 'https://g.example/a/b');
  t.equal(mirroredUrl(KUBELET, downloadMirrors([], faults)), KUBELET);
  t.strictSame(faults, []);
});

t.test('what is no mirror is refused, without its password', async (t) => {
  for (const [read, value, fault] of [
    [registryMirrors, 'https://m.example', /expected HOST/],
    [registryMirrors, 'me:secret@m.example', /expected HOST/],
    [registryMirrors, '', /expected HOST/],
    [registryMirrors, 'a b=m.example', /a b is not a host/],
    [downloadMirrors, 'm.example', /expected https/],
    [downloadMirrors, 'ftp://m.example', /expected https/],
    [downloadMirrors, 'https://m.example/?a', /without \?/],
    [downloadMirrors, 'https://me:secret@m.example', /of m.example: a user or a password/],
  ] as const) {
    const faults: string[] = [];
    read([value], faults);
    t.match(faults, [fault], value);
  }
  const faults: string[] = [];
  registryMirrors(['a.example', 'b.example', 'c=d.example', 'c=e.example'], faults);
  t.match(faults, [/b.example: given twice/, /c: given twice/]);
});

t.test('the SHA-256 of a file in each form of a site', async (t) => {
  t.equal(checksumIn(`${SUM}\n`, 'kubelet'), SUM);
  t.equal(checksumIn(SUM.toUpperCase(), 'kubelet'), SUM);
  t.equal(checksumIn(`${'0'.repeat(64)}  other\n${SUM} *kubelet\n`, 'kubelet'), SUM);
  t.equal(checksumIn(`${SUM}  ./build/kubelet\n`, 'kubelet'), SUM);
  for (const text of ['', '<html>', `${SUM}  other\n`, `${SUM}0\n`, `${SUM}\n${SUM}\n`]) {
    t.equal(checksumIn(text, 'kubelet'), undefined, text);
  }
});

t.test('the image of an architecture', async (t) => {
  const blob = (character: string) => ({ digest: `sha256:${character.repeat(64)}`, size: 3 });
  const image = { config: blob('a'), layers: [blob('b')] };
  t.strictSame(readManifest(JSON.stringify(image), PAUSE, 'amd64'), {
    kind: 'image',
    blobs: image,
  });
  const platform = (architecture: string, os = 'linux') => ({ platform: { architecture, os } });
  const list = JSON.stringify({
    manifests: [
      { ...blob('0'), ...platform('amd64', 'windows') },
      { ...blob('1'), ...platform('unknown', 'unknown') },
      { ...blob('2'), ...platform('amd64') },
    ],
  });
  t.strictSame(readManifest(list, PAUSE, 'amd64'), { kind: 'list', digest: blob('2').digest });
  t.throws(() => readManifest(list, PAUSE, 'arm64'), {
    kind: 'usage',
    message: /expected linux\/arm64; found windows\/amd64, unknown\/unknown, linux\/amd64/,
  });
  for (const text of ['<html>', '{}', '{"schemaVersion":1,"fsLayers":[]}']) {
    t.throws(() => readManifest(text, PAUSE, 'amd64'), { kind: 'usage', message: /not an image/ });
  }
});

t.test('what skopeo says tells who has to do something', async (t) => {
  const failure = (message: string) =>
    skopeoFailure(PAUSE, 'exit code 1', `time="x" level=fatal msg=${JSON.stringify(message)}`);
  for (const [message, kind, says] of [
    [
      'reading manifest v1 in x: unauthorized: authentication required',
      'usage',
      /skopeo login reg/,
    ],
    ['reading manifest 1 in registry.k8s.io/pause: manifest unknown', 'usage', /Check the version/],
    ['pinging: x509: certificate signed by unknown authority', 'usage', /SSL_CERT_FILE/],
    ['toomanyrequests: You have reached your pull rate limit', 'usage', /mirror/],
    ['writing blob: write /x: no space left on device', 'usage', /no space left/],
    ['Manifest does not match provided manifest digest sha256:0', 'usage', /another or a damaged/],
    ['pinging: dial tcp 127.0.0.1:1: connect: connection refused', 'retry', /refused/],
    ['reading blob sha256:0: unexpected EOF', 'retry', /EOF/],
    ['received unexpected HTTP status: 503 Service Unavailable', 'retry', /503/],
  ] as const) {
    t.match(failure(message), { kind, message: says }, message);
  }
  t.match(skopeoFailure(PAUSE, 'program not found', ''), {
    kind: 'usage',
    message: /package skopeo/,
  });
});

t.test('work is repeated as long as it gets on', async (t) => {
  const cut = () => Promise.reject(new Failure('retry', 'cut'));
  const run = async (gains: readonly number[], work: () => Promise<unknown>) => {
    let bytes = 0;
    let calls = 0;
    const { signal } = new AbortController();
    const each = () => {
      bytes += gains[calls++] ?? 0;
      return work();
    };
    const within = { signal, bytes: async () => bytes, report: () => undefined, pauseMs: 0 };
    return { error: await again(each, within).catch((error: unknown) => error), calls };
  };
  t.match(await run([], cut), { error: { message: 'cut' }, calls: 5 });
  t.match(await run([0, 0, 0, 1, 0, 0, 0, 1], cut), { calls: 12 }, 'a further byte starts again');
  const final = () => Promise.reject(new Failure('usage', 'wrong'));
  t.match(await run([], final), { error: { message: 'wrong' }, calls: 1 });
});

t.test('the parts of a version', async (t) => {
  t.equal(companionsOf('v1.36.9').etcd, '3.6.8');
  t.equal(companionsOf('v1.99.0').minor, '1.37', 'a newer one');
  t.equal(companionsOf('v1.2.0').minor, '1.34');
  const { images, downloads } = upstreamParts({ kubernetes: 'v1.37.2', etcd: 'v3.6.8' }, 'arm64');
  t.match(
    images.find(({ name }) => name === 'etcd'),
    { reference: 'registry.k8s.io/etcd:3.6.8-0' },
  );
  t.match(
    downloads.find(({ name }) => name === 'etcdutl'),
    {
      url: 'https://github.com/etcd-io/etcd/releases/download/v3.6.8/etcd-v3.6.8-linux-arm64.tar.gz',
      checksums: 'https://github.com/etcd-io/etcd/releases/download/v3.6.8/SHA256SUMS',
    },
  );
  const all = [...images.map(({ reference }) => reference), ...downloads.map(({ url }) => url)];
  t.notMatch(all.join(' '), /[{}]/, 'nothing is left open');
});
