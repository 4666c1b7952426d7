import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { kubeconfigPath, siteFolder } from '../../../lib/change/site/places.ts';
import { siteDomain } from '../../../lib/config/site-config/site-config.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';
import { createAuthority, type KeyPair } from '../../../lib/pki/authority.ts';
import { validityOf } from '../../../lib/pki/certificate.ts';
import { issueLeaf } from '../../../lib/pki/leaf.ts';
import { lifetimes } from '../../../lib/pki/lifetimes.ts';
import { appsDomain } from '../../../lib/relocation/site-openshift/names.ts';
import type { SiteIdentity } from '../../../lib/relocation/site-openshift/site-writes.ts';
import { VOLUME_FILES } from '../../../lib/relocation/site-volume/volume.ts';
import { certifyAdministrator } from '../../steps/certificates/administrator.ts';
import type { ReconfigureContext } from '../context.ts';
import { stagedPath } from '../credentials.ts';
import { nodeSince } from './clock.ts';

const ADMINISTRATOR_DAYS = 365;

const pairSchema = z.object({ certificate: z.string(), key: z.string() });
const stagedSchema = z.object({
  id: z.uuid(),
  identity: z.object({ api: pairSchema, ingress: pairSchema, administrators: z.string() }),
});
const stagedFile = (paths: HostPaths) =>
  stateFile(stagedPath(paths), stagedSchema, { damaged: 'none-if-read' });

type Context = Pick<ReconfigureContext, 'paths' | 'request' | 'site' | 'credentials'>;

/**
 * The certificates that the names of the site show on OpenShift, given or made, and the authority of its administrators. They
 * are made once: an interrupted attempt continues with the same ones, and no operator rolls out twice.
 */
export const siteCertificatesOnOpenShift: ChangeStep<Context> = {
  name: 'certificates',
  leaves: "the certificates of the site's names, and a kubeconfig, if one was requested",
  touches: ['disk', 'clock'],
  neededUntil: 'confirm',
  holds: async (context) => (await siteIdentity(context)) !== undefined,
  async run(context) {
    const { paths, request } = context;
    const { identity, kubeconfig } = await made(context, new Date());
    // Without one, that of an earlier site goes, whose administrators are refused from then on.
    if (kubeconfig === undefined) await removeFile(kubeconfigPath(paths));
    else await writeFileAtomic(kubeconfigPath(paths), kubeconfig, 0o600);
    await stagedFile(paths).write({ id: request.id, identity });
    return done();
  },
};

/** What the step has left for this request. */
export async function siteIdentity({
  paths,
  request,
}: Pick<Context, 'paths' | 'request'>): Promise<SiteIdentity | undefined> {
  const data = await stagedFile(paths).read();
  return data?.id === request.id ? data.identity : undefined;
}

/** The same. @throws Failure (fatal) if it has left nothing */
export async function requireSiteIdentity(
  context: Pick<Context, 'paths' | 'request'>,
): Promise<SiteIdentity> {
  const identity = await siteIdentity(context);
  if (identity !== undefined) return identity;
  throw new Failure('fatal', "the certificates of the site's names do not exist", {
    expected: 'what the step certificates has left',
  });
}

async function made({ paths, site, credentials }: Context, now: Date) {
  const time = { now, validFrom: await nodeSince(paths, now) };
  const serving =
    credentials.kind === 'authorities'
      ? credentials.servingCa
      : await createAuthority('sno-site-serving-ca', time);
  const domain = siteDomain(site);
  const of = (name: string) => servingCertificate(serving, name, now);
  const identity = {
    api: site.certificates.api ?? (await of(`api.${domain}`)),
    ingress: site.certificates.ingress ?? (await of(`*.${appsDomain(domain)}`)),
  };
  if (credentials.kind === 'authorities') {
    const administrators = credentials.adminCa.certificate;
    return { identity: { ...identity, administrators }, kubeconfig: undefined };
  }
  // Its key is not kept: who is administrator next comes with another volume.
  const admin = await createAuthority('sno-site-admin-ca', time);
  const { kubeconfig } = await certifyAdministrator(
    { admin, serving: serving.certificate },
    { name: site.clusterName, baseDomain: site.baseDomain },
    {
      path: join(siteFolder(paths), VOLUME_FILES.adminRequest),
      days: ADMINISTRATOR_DAYS,
      now,
    },
  );
  return { identity: { ...identity, administrators: admin.certificate }, kubeconfig };
}

/** With its authority behind it, which OpenShift's own clients take from there. No operator renews what it did not make. */
async function servingCertificate(authority: KeyPair, name: string, now: Date): Promise<KeyPair> {
  const profile = {
    subject: { commonName: name },
    usage: 'server',
    dnsNames: [name],
    lifetimeDays: lifetimes.authorityDays,
  } as const;
  const validFrom = validityOf(authority.certificate).notBefore;
  const { certificate, key } = await issueLeaf(authority, profile, { now, validFrom });
  return { certificate: certificate + authority.certificate, key };
}
