import { link, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { copyFile } from '../../lib/host/copy.ts';
import { ensureComponent } from '../components/component.ts';
import { openshiftOsImage, openshiftRootFilesystem } from '../components/openshift/system.ts';
import { OS_IMAGE } from '../components/os-image.ts';
import { serveFiles } from '../host/http-server.ts';
import { Installation, type Report } from '../installation.ts';
import { executable } from '../paths.ts';
import { DISK, openSite } from '../site.ts';
import { installedChecks } from './installed-checks.ts';
import { createFromInstaller, releaseImage } from './installer.ts';
import { combinedIgnition } from './live-checks.ts';
import { serveRelease } from './site-registry.ts';

const PORT = 8080;
/** Four operators take over, one revision after the other, while the API server restarts. */
const TAKE_OVER_MS = 30 * 60_000;
const BOOT_MS = 5 * 60_000;

/**
 * An installation of OpenShift from the Ignition config of openshift-install, taken over by `sno`. The
 * site serves the agents' executable, the operating system's image and a mirror of the release.
 */
export class OpenShiftInstallation extends Installation {
  /** Its reference, once the installation is created. */
  releaseImage = '';

  override async create(): Promise<void> {
    const { folder, teardown, signal } = this.context;
    const site = await openSite(folder, {}, teardown, signal);
    const trust = await serveRelease(this.context);
    const url = await this.#serveSystem();
    const created = await createFromInstaller({
      folder: join(folder, 'installation'),
      agentsUrl: `${url}/sno-agents`,
      trust,
      installer: `--insecure --image-url ${url}/${OS_IMAGE} ${DISK}`,
      signal,
    });
    this.releaseImage = await releaseImage(signal);
    this.prepared(site, created);
  }

  override checkDisk(report: Report): Promise<void> {
    return super.checkDisk(report, [combinedIgnition]);
  }

  override finish(report: Report, label = 'disk'): Promise<void> {
    return super.finish(report, label, TAKE_OVER_MS);
  }

  override checkCluster(report: Report): Promise<void> {
    return this.runClusterChecks(installedChecks, report);
  }

  /** On the installed host, units of the machine config pull images before the kubelet starts. */
  protected override get bootMs(): number {
    return BOOT_MS;
  }

  protected override liveSystem(): Promise<string> {
    return ensureComponent(openshiftRootFilesystem, this.#within);
  }

  /** Returns the URL of the executable's and the image's folder. */
  async #serveSystem(): Promise<string> {
    const { folder, teardown, signal } = this.context;
    const served = join(folder, 'served');
    await mkdir(served);
    await copyFile(executable, join(served, 'sno-agents'), 0o644, signal);
    const system = await ensureComponent(openshiftOsImage, this.#within);
    await link(join(system, OS_IMAGE), join(served, OS_IMAGE));
    return serveFiles(served, PORT, teardown);
  }

  get #within() {
    return { signal: this.context.signal, report: () => undefined };
  }
}
