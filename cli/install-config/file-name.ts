/** In the folder of an installation. */
export const INSTALL_CONFIG = 'install-config.yaml';
