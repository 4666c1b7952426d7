/** The end of a rotation of the administrators' CA: nobody trusts the laptop's again. */
import t, { type Test } from 'tap';
import { saveStaged } from '../../../../agents/steps/certificates/changes.ts';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { trustNew } from '../../../../agents/upkeep/rotate/phases.ts';
import {
  createAuthority,
  createLaptopAuthorities,
} from '../../../../lab/certificates/signed-now.ts';
import { requestRotation, type What } from '../../../../lib/change/rotation/request.ts';
import { readKubeconfig } from '../../../../lib/clients/kube/kubeconfig.ts';
import type { HostEndpoints } from '../../../../lib/host/paths.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import {
  type AuthorityName,
  laptopAdminCa,
} from '../../../../lib/render/kubernetes/authorities.ts';
import { apiServerTrust } from '../../../../lib/render/kubernetes/kube-apiserver.ts';
import { servingAuthority } from '../../gather/cluster/serve-api.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, refuse } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { copyAt, seal } from '../host/sealed.ts';

const PUBLISHED = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const own = await createAuthority('admin-ca');
const { adminCa } = await createLaptopAuthorities();

/** A host at the last phase: the clients' authorities are to be the host's own. */
async function ending(t: Test, names: AuthorityName[], publish: ApiAnswer) {
  const endpoints: { -readonly [Name in keyof HostEndpoints]: HostEndpoints[Name] } = {};
  const host = testHost(t, { endpoints });
  await fakeApi(t, host, { [`GET ${PUBLISHED}`]: publish, [`PUT ${PUBLISHED}`]: publish });
  endpoints.api = (await readKubeconfig(host.at(kubeconfigs.csrApprover))).server.href;
  const { gather } = accessTo('kubernetes');
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', JSON.stringify({ renewProofMs: 1 }));
  host.write(gather.ca, servingAuthority);
  host.write(gather.signer.certificate, own.certificate);
  host.write(gather.signer.key, own.key, 0o600);
  host.write(apiServerTrust.clients, own.certificate + adminCa.certificate);
  host.write(apiServerTrust.frontProxy, own.certificate);
  host.write(laptopAdminCa, adminCa.certificate);
  const what: What = { kind: 'authorities', names };
  await requestRotation(host.paths, { what, restartWorkloads: false });
  const context = await rotateContext(host.paths);
  const changes = [{ path: apiServerTrust.clients, contents: own.certificate, mode: 0o644 }];
  const phases = { 'trust-both': [], 'use-new': [], 'trust-new': changes };
  await saveStaged(host.paths, { schemaVersion: 1, id: context.request.id, phases, retired: [] });
  return { host, run: () => trustNew.run(context, host.progress()) };
}

const published: ApiAnswer = () => ({
  metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
  data: {},
});

t.test("the laptop's CA is deleted with that of the administrators", async (t) => {
  const { host, run } = await ending(t, ['kubelet-client', 'admin'], published);
  const { afterBoot } = seal(host);
  host.write(copyAt(laptopAdminCa), 'sealed');
  await run();
  t.equal(host.read(apiServerTrust.clients), own.certificate);
  t.notOk(host.has(laptopAdminCa), 'what is written from it later does not trust it again');
  t.equal(afterBoot(laptopAdminCa), undefined, 'nor after the next boot');
});

t.test("the laptop's CA stays when others are replaced", async (t) => {
  const { host, run } = await ending(t, ['kubelet-client'], published);
  await run();
  t.equal(host.read(laptopAdminCa), adminCa.certificate);
});

t.test("the laptop's CA stays with what is put back", async (t) => {
  const { host, run } = await ending(t, ['admin'], () => refuse(500));
  await t.rejects(run(), { code: 'rotation-rolled-back' });
  t.equal(host.read(apiServerTrust.clients), own.certificate + adminCa.certificate);
  t.equal(host.read(laptopAdminCa), adminCa.certificate, 'for whoever reads it next');
});
