import { SITE_CONFIG } from '../../lib/config/site-config/site-config.ts';
import { VOLUME_FILES } from '../../lib/relocation/site-volume/volume.ts';
import { MANIFEST_FOLDERS } from '../create/user-manifests.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import type { SiteSpec } from './site.ts';

/**
 * What a template consists of: the file with placeholders, and the folders of manifests beside it. A ConfigMap or Secret has
 * FOLDER/NAME under the key FOLDER.NAME.
 */
export const templateFiles = (action: SiteSpec['action']) =>
  action === 'install'
    ? { config: INSTALL_CONFIG, folders: MANIFEST_FOLDERS }
    : { config: SITE_CONFIG, folders: [VOLUME_FILES.manifests] };
