/**
 * The arguments of the stages, compared with the script of openshift-install that they replace. It
 * is no part of this repository: SNO_OPENSHIFT_IGNITION names a bootstrap Ignition config of 4.19.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { parseConfig } from '../../../lib/render/ignition/config.ts';
import { commandOf } from '../../../lib/render/openshift/command.ts';
import { stagesIn } from '../../../lib/render/openshift/stage.ts';
import { STAGES } from '../../../lib/render/openshift/stages.ts';
import { referenceOf, release } from '../../unit/render/openshift/release.ts';

const ignition = process.env.SNO_OPENSHIFT_IGNITION;
const skip = ignition === undefined ? 'needs SNO_OPENSHIFT_IGNITION' : false;

/** Of podman and of the tools around it. */
const others =
  /^--(name|volume|user|env|quiet|attach|rm|recursive|force|net|entrypoint|parents)(=|$)/;

/** The values of the script's variables in the tests' release. */
const values: Readonly<Record<string, string>> = {
  VERSION: '4.19.0',
  KUBERNETES_VERSION: '1.34.1',
  CLUSTER_PROFILE_ANNOTATION: 'self-managed-high-availability',
  ETCD_ENDPOINTS: 'https://localhost:2379',
  RELEASE_IMAGE_DIGEST: referenceOf('release'),
  MACHINE_CONFIG_ETCD_IMAGE: referenceOf('etcd'),
  OPENSHIFT_HYPERKUBE_IMAGE: referenceOf('hyperkube'),
  OPENSHIFT_CLUSTER_POLICY_IMAGE: referenceOf('cluster-policy-controller'),
  KUBE_APISERVER_OPERATOR_IMAGE: referenceOf('cluster-kube-apiserver-operator'),
  CLOUD_CREDENTIAL_OPERATOR_IMAGE: referenceOf('cloud-credential-operator'),
};

/** What is different on purpose. */
const corrected: Readonly<Record<string, string>> = {
  // The script tests for one file and passes another.
  '--cloud-lb-config-file=/assets/manifests/openshift-lb-config.yaml':
    '--cloud-lb-config-file=/assets/manifests/openshift-lbconfig-custom-dns.yaml',
  // Relative to the working directory of the image.
  '--image-references=assets/image-references': '--image-references=/assets/image-references',
};

t.test('the arguments of bootkube.sh', { skip }, async (t) => {
  if (ignition === undefined) return;
  const { storage } = parseConfig(readFileSync(ignition, 'utf8'), ignition);
  const file = storage?.files?.find(({ path }) => path === '/usr/local/bin/bootkube.sh');
  const script = decodeDataUrl(file?.contents ?? {}).toString();
  for (const stage of stagesIn('4.19', STAGES)) {
    const from = script.indexOf(`record_service_stage_start "${stage.name}"`);
    t.ok(from > 0, stage.name);
    const block = script.slice(from, script.indexOf('record_service_stage_success', from));
    const theirs = [...block.matchAll(/--[a-z][a-z-]*(?:="[^"]*"|=[^\s")]*)?/g)]
      .map(([flag]) => flag.replaceAll('"', ''))
      .filter((flag) => !others.test(flag))
      .map((flag) => flag.replace(/\$\{?(\w+)\}?/, (_, name) => values[name] ?? `$${name}`))
      .map((flag) => corrected[flag] ?? flag);
    const ours = commandOf(stage, release('4.19.0'), () => true).filter((each) =>
      each.startsWith('--'),
    );
    t.same(ours.toSorted(), theirs.toSorted(), stage.name);
  }
});
