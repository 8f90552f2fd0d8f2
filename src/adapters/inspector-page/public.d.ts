/** What the build makes into modules. */
declare module 'virtual:diagram.css';
declare module '*.css';
