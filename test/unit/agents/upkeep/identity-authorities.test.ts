/** A host that continues the cluster of a lost one takes over its authorities. */
import t, { type Test } from 'tap';
import { authorities } from '../../../../agents/upkeep/identity/authorities.ts';
import type { IdentityContext } from '../../../../agents/upkeep/identity/context.ts';
import { createLaptopAuthorities } from '../../../../lab/certificates/signed-now.ts';
import { copyName } from '../../../../lib/change/backup/manifest.ts';
import { identityOf } from '../../../../lib/change/identity/identity.ts';
import { requestIdentity } from '../../../../lib/change/identity/request.ts';
import { isIssuedBy } from '../../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import {
  authorityNames,
  authorityPaths,
  createAuthorities,
  laptopAdminCa,
  mediumServingCa,
} from '../../../../lib/render/kubernetes/authorities.ts';
import { rotatableLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { trustFiles } from '../../../../lib/render/kubernetes/trust.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { input, rendered, textAt } from '../../render/rendered-host.ts';
import { BACKUPS, NAME } from '../backup/backup-host.ts';
import { type TestHost, testHost } from '../host/host.ts';

const from = identityOf(input);
const lost = await createAuthorities((await createLaptopAuthorities()).servingCa);
const keys = Object.fromEntries(
  authorityNames.flatMap((name) => {
    const { certificate, key } = authorityPaths(name);
    return [
      [copyName(certificate), lost[name].certificate],
      [copyName(key), lost[name].key],
    ];
  }),
);
/** `asked`: what the request says beside the identities. */
async function newHost(
  t: Test,
  files: Readonly<Record<string, string>> = keys,
  asked: object = { backup: NAME, keepsAuthorities: true },
  has = /\/pki\//,
) {
  const host = testHost(t);
  for (const { path, contents, mode, uses } of rendered.files) {
    if (has.test(path) && uses.includes('control-plane')) host.write(path, contents, mode);
  }
  host.write(`${BACKUPS}/${NAME}/manifest.json`, '');
  writeBackup(host.at(`${BACKUPS}/${NAME}`), files);
  const to = { ...from, hostname: 'edge-9' };
  const request = await requestIdentity(host.paths, { from, to, ...asked });
  const context: IdentityContext = { ...host.context, request, hostname: () => to.hostname };
  return {
    host,
    run: () => authorities.run(context, host.progress()),
    holds: () => authorities.holds(context, host.progress()),
  };
}

/** Who is trusted, who has signed, and whose keys are new. */
async function trustOn(host: TestHost) {
  const present = rotatableLeaves.filter(({ certificate }) => host.has(certificate));
  const issued = present.map(async ({ name, certificate, key, authority }) => [
    name,
    await isIssuedBy(host.read(certificate), lost[authority].certificate),
    publicKeyFingerprint(host.read(certificate)) === publicKeyFingerprint(host.read(key)),
    host.read(key) !== textAt(key),
    [host.mode(certificate), host.mode(key)],
  ]);
  const trusted = trustFiles
    .filter(({ path }) => host.has(path))
    .map(({ name, path }) => [name, host.read(path), host.mode(path)]);
  const signers = authorityNames.map((name) => {
    const { certificate, key } = authorityPaths(name);
    return [host.read(certificate), host.read(key), host.mode(certificate), host.mode(key)];
  });
  return {
    issued: await Promise.all(issued),
    trusted,
    signers,
    medium: host.has(mediumServingCa) && host.read(mediumServingCa),
    mediumMode: host.has(mediumServingCa) && host.mode(mediumServingCa),
  };
}

t.test('its authorities sign and are trusted, for new keys of this host', async (t) => {
  const { host, run, holds } = await newHost(t);
  t.equal(await holds(), false);
  t.match(await run(), { kind: 'done', note: authorityNames.join(', ') });
  t.equal(await holds(), true);
  const found = await trustOn(host);
  t.same(
    found.issued,
    ['etcd-server', 'etcd-peer', 'kube-apiserver-etcd-client', 'kube-apiserver-serving']
      .concat('kube-apiserver-kubelet-client', 'front-proxy-client')
      .concat('kube-controller-manager', 'kube-scheduler')
      .map((name) => [name, true, true, true, [0o644, 0o600]]),
  );
  t.same(
    found.signers,
    authorityNames.map((name) => [lost[name].certificate, lost[name].key, 0o644, 0o600]),
  );
  t.same(
    found.trusted,
    trustFiles
      .filter(({ path }) => host.has(path))
      .map(({ name, authorities: names, trustsLaptop }) => {
        const laptop = trustsLaptop ? textAt(laptopAdminCa) : '';
        return [name, names.map((each) => lost[each].certificate).join('') + laptop, 0o644];
      }),
  );
  t.same([found.medium, found.mediumMode], [lost.serving.certificate, 0o644]);
});

t.test('one authority, its certificate or its key alone, that is another one', async (t) => {
  const { host, run, holds } = await newHost(t);
  await run();
  const { certificate, key } = authorityPaths('legacy-unknown');
  for (const [path, another] of [
    [certificate, lost.etcd.certificate],
    [key, 'x'],
  ] as const) {
    const kept = host.read(path);
    host.write(path, another);
    t.equal(await holds(), false, path);
    host.write(path, kept);
  }
  t.equal(await holds(), true);
});

t.test('without a backup, or with authorities of its own, nothing is written', async (t) => {
  for (const asked of [{}, { backup: NAME }]) {
    const { host, run, holds } = await newHost(t, keys, asked);
    t.equal(await holds(), true);
    t.match(await run(), { kind: 'done', note: 'not needed' });
    t.notOk(host.has(mediumServingCa));
    t.equal(host.read(authorityPaths('etcd').key), textAt(authorityPaths('etcd').key));
  }
});

t.test('a backup without one of them is refused before anything is written', async (t) => {
  const { key } = authorityPaths('legacy-unknown');
  const { [copyName(key)]: _gone, ...others } = keys;
  const { host, run } = await newHost(t, others);
  await t.rejects(run(), {
    kind: 'fatal',
    code: 'backup-unusable',
    message: `the backup has no ${key}`,
  });
  t.notOk(host.has(mediumServingCa));
});

t.test('what cannot be written is not passed over: it is not done', async (t) => {
  for (const path of [mediumServingCa, authorityPaths('etcd').key]) {
    const { host, run, holds } = await newHost(t);
    const before = host.has(path) ? host.read(path) : undefined;
    if (before !== undefined) host.remove(path);
    host.write(`${path}/folder`);
    await t.rejects(run(), path);
    host.remove(path);
    if (before !== undefined) host.write(path, before);
    t.equal(await holds(), false, path);
  }
});

t.test('interrupted at any moment, they are taken over as a whole', async (t) => {
  await killedAtAnyMoment(t, {
    // One leaf and three files with trusted authorities: moments are many.
    prepare: () => newHost(t, keys, undefined, /\/pki\/(ca|kube-scheduler)\//),
    run: ({ run }) => run(),
    async allowed({ host, holds }, when) {
      if (!(await holds())) return;
      t.ok(host.has(mediumServingCa), `${when}: who else may have the key is known`);
      const { issued } = await trustOn(host);
      t.ok(
        issued.every(([, isIssued, isPair]) => isIssued === true && isPair === true),
        `${when}: the authorities are written last`,
      );
    },
    result: ({ host }) => trustOn(host),
    least: 60,
    isDurable: true,
  });
});
