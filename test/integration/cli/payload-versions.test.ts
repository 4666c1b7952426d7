import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { stringify } from 'yaml';
import { type PayloadDescription, parsePayload } from '../../../lib/payload/payload.ts';
import {
  createArguments,
  kubernetesProgram,
  type PayloadSources,
  payloadSources,
} from '../../unit/cli/payload-sources.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { programBytes } from '../../unit/payload/elf/program.ts';
import { dockerArchive, hex, tarOf } from '../../unit/payload/image/archives.ts';

type Sources = PayloadSources & { dir: string };

async function setUp(t: Pick<Test, 'testdir'>): Promise<Sources> {
  const folder = t.testdir({ sources: {} });
  return {
    ...(await payloadSources(join(folder, 'sources'))),
    dir: join(folder, 'payload'),
  };
}

const recorded = (version: string) => ({ modules: `mod\tk8s.io/kubernetes\t${version}\t\n` });

/** Every part of Kubernetes as a program, with what Go records of this version. */
function useKubernetes({ arguments: given, write }: Sources, version: string): void {
  for (const name of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
    given.images[name] = write(`${name}-other`, kubernetesProgram(name, recorded(version)));
  }
  given.binaries.kubelet = write('kubelet-other', kubernetesProgram('kubelet', recorded(version)));
  delete given.images['kube-proxy'];
}

/** An archive of etcd whose program is of this version. */
async function etcdImage(version: string): Promise<Buffer> {
  const modules = `path\tgo.etcd.io/etcd/server/v3\nmod\tgo.etcd.io/etcd/server/v3\t${version}\t\n`;
  const layer = await tarOf([
    ['usr/local/bin/etcdctl', programBytes({ text: 'etcdctl' })],
    ['usr/local/bin/etcd', programBytes({ modules })],
  ]);
  return tarOf(await dockerArchive([{ references: ['registry.k8s.io/etcd:3.6.8-0'], layer }]));
}

const create = ({ dir, arguments: given }: Sources) => sno(createArguments(dir, given));

t.test('an option does not overrule what parts state', async (t) => {
  const sources = await setUp(t);
  sources.arguments.others.push('--kubernetes-version', '1.37.3', '--etcd-version', 'v3.4.0');
  const { code, err } = await create(sources);
  t.equal(code, 2);
  t.match(err, /2 errors; nothing was written/);
  t.match(err, /--kubernetes-version v1\.37\.3: .*binary kubelet is v1\.37\.2\. Leave the option/);
  t.match(err, /--etcd-version v3\.4\.0: .*binary etcdutl is v3\.6\.8\. Leave the option out/);
});

t.test('parts of two versions are no payload, whatever is given', async (t) => {
  const sources = await setUp(t);
  const { arguments: given, write } = sources;
  given.binaries.kubelet = write('later', kubernetesProgram('kubelet', recorded('v1.37.3')));
  given.others.push('--kubernetes-version', '1.37.3');
  const { code, err } = await create(sources);
  t.equal(code, 2);
  t.match(err, /versions of kubernetes differ: .*v1\.37\.2.*binary kubelet is v1\.37\.3/);
  t.notMatch(err, 'version with');
  t.notMatch(err, '--kubernetes-version');
});

t.test('a tag does not overrule the program under it', async (t) => {
  const sources = await setUp(t);
  sources.arguments.references['kube-apiserver'] = 'registry.k8s.io/kube-apiserver:v1.37.3';
  const { code, err } = await create(sources);
  t.equal(code, 2);
  t.match(err, /image kube-apiserver is v1\.37\.2, the tag of image kube-apiserver is v1\.37\.3/);
});

t.test('the program in an image counts, not only its tag', async (t) => {
  const sources = await setUp(t);
  const { arguments: given, write } = sources;
  given.images.etcd = write('etcd-3.6.7.tar', await etcdImage('v3.6.7'));
  const { code, err } = await create(sources);
  t.equal(code, 2);
  t.match(err, /nothing was written\n.*states etcd v3\.6\.8, but image etcd is v3\.6\.7/);
  given.images.etcd = write('etcd-3.6.8.tar', await etcdImage('v3.6.8'));
  t.match(await create(sources), { code: 0 });
});

t.test('an option completes what no part states', async (t) => {
  const sources = await setUp(t);
  const { arguments: given } = sources;
  useKubernetes(sources, '(devel)');
  t.match(await create(sources), {
    code: 2,
    err: /no program and no tag states the version of kubernetes. Set it with --kubernetes-version/,
  });
  given.others.push('--kubernetes-version', '1.37.2');
  t.match(await create(sources), { code: 0, out: /Kubernetes v1\.37\.2, etcd v3\.6\.8/ });
});

t.test('a version that this release has not been run with has to be accepted', async (t) => {
  const sources = await setUp(t);
  useKubernetes(sources, 'v1.38.0');
  const refused = await create(sources);
  t.equal(refused.code, 2);
  t.match(refused.err, /has not been run with Kubernetes 1\.38: .* add --accept-untested/);
  sources.arguments.others.push('--accept-untested');
  const accepted = await create(sources);
  t.match(accepted, { code: 0, err: /Notice: .*has not been run with Kubernetes 1\.38/ });
  const verify = ['verify', 'payload', sources.dir];
  t.match(await sno(verify), { code: 2, err: /has not been run with Kubernetes 1\.38/ });
  t.match(await sno([...verify, '--accept-untested']), { code: 0, err: /Notice: .*1\.38/ });
});

t.test('a version that is too old is refused, accepted or not', async (t) => {
  const sources = await setUp(t);
  useKubernetes(sources, 'v1.33.4');
  sources.arguments.others.push('--accept-untested');
  t.match(await create(sources), { code: 2, err: /Kubernetes v1\.33\.4 is older than 1\.34, / });
});

t.test('a payload for hosts that are to leave their version is made, with a notice', async (t) => {
  const sources = await setUp(t);
  useKubernetes(sources, 'v1.34.4');
  t.match(await create(sources), {
    code: 0,
    err: /Notice: Kubernetes 1\.34, .*no longer installed/,
  });
});

t.test('verify compares what payload.yaml states with tags and programs', async (t) => {
  const sources = await setUp(t);
  const { arguments: given, write, dir } = sources;
  given.images.etcd = write('etcd-program.tar', await etcdImage('v3.6.8'));
  t.match(await create(sources), { code: 0 });
  const changed = (name: string, change: (description: PayloadDescription) => void) => {
    const copy = `${dir}-${name}`;
    cpSync(dir, copy, { recursive: true });
    const path = join(copy, 'payload.yaml');
    const description = parsePayload(readFileSync(path, 'utf8'), path);
    change(description);
    writeFileSync(path, stringify(description));
    return copy;
  };
  const relabelled = changed('relabelled', (description) => {
    description.versions = { kubernetes: 'v1.37.9', etcd: 'v3.6.9' };
  });
  const { code, err } = await sno(['verify', 'payload', relabelled]);
  t.equal(code, 2);
  t.match(err, /states kubernetes v1\.37\.9, but binary kubelet is v1\.37\.2/);
  t.match(err, /states kubernetes v1\.37\.9, but the tag of image kube-scheduler is v1\.37\.2/);
  t.match(err, /states etcd v3\.6\.9, but binary etcdutl is v3\.6\.8/);
  t.match(err, /states etcd v3\.6\.9, but image etcd is v3\.6\.8/);

  const kubelet = kubernetesProgram('kubelet', recorded('v1.36.3'));
  const mixed = changed('mixed', ({ binaries }) => {
    const entry = binaries.find(({ name }) => name === 'kubelet');
    Object.assign(entry ?? {}, { size: kubelet.length, sha256: hex(kubelet) });
  });
  writeFileSync(join(mixed, 'bin/kubelet'), kubelet);
  t.match(await sno(['verify', 'payload', mixed]), {
    code: 2,
    err: /has 1 error:\n.*states kubernetes v1\.37\.2, but binary kubelet is v1\.36\.3/,
  });
});
