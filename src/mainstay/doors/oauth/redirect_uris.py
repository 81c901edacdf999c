"""The redirect addresses that are allowed: on the web, on the person's own device, or with a scheme of the app."""

import re
from urllib.parse import urlsplit

MAX_REDIRECT_LENGTH = 2000

_LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "::1"}


def is_allowed_redirect(address: str) -> bool:
    """Return whether an app may have this redirect address."""
    if len(address) > MAX_REDIRECT_LENGTH or not re.fullmatch(r"[\x21-\x7e]+", address) or {*'#\\"<>`'} & {*address}:
        return False
    try:
        parts = urlsplit(address)
        host = parts.hostname
        _port = parts.port  # raises for a port that is not valid
    except ValueError:
        return False
    if "@" in parts.netloc or not re.fullmatch(r"[a-z][a-z0-9+.-]*", parts.scheme):
        return False
    if parts.scheme == "https":
        return bool(host)
    if parts.scheme == "http":
        return host in _LOOPBACK_HOSTS
    return parts.scheme not in _RESERVED_SCHEMES and not parts.scheme.startswith(_RESERVED_PREFIXES)


def is_loopback(address: str) -> bool:
    """Return whether an allowed redirect address leads to a program on the person's own device."""
    parts = urlsplit(address)
    return parts.scheme == "http" and parts.hostname in _LOOPBACK_HOSTS


def is_web_address(address: str) -> bool:
    """Return whether a browser opens the address itself, instead of starting a program with it."""
    return urlsplit(address).scheme in {"http", "https"}


# Schemes that no app may claim, because they run or read something, write to someone or open a part of the system. They
# belong to browsers, to older internet protocols, and to Windows, macOS, Linux desktops and phones.
_RESERVED_SCHEMES = {
    *("javascript", "vbscript", "livescript", "mocha", "data", "blob", "about", "file", "filesystem", "jar", "urn"),
    *("view-source", "resource", "wyciwyg", "chrome", "edge", "opera", "brave", "vivaldi", "feed", "cid", "mid", "ie"),
    *("ws", "wss", "ftp", "ftps", "sftp", "tftp", "gopher", "wais", "finger", "nntp", "news", "snews", "imap", "pop"),
    *("mailto", "tel", "callto", "sms", "smsto", "mms", "mmsto", "sip", "sips", "xmpp", "im", "irc", "ircs", "irc6"),
    *("ldap", "ldaps", "ldapi", "telnet", "tn3270", "rlogin", "ssh", "rdp", "vnc", "smb", "smb2", "cifs", "nfs"),
    *("afp", "dav", "davs", "webdav", "webdavs", "webcal", "webcals", "rtsp", "rtmp", "mmst", "magnet", "geo"),
    # Windows
    *("shell", "search", "search-ms", "res", "mk", "mhtml", "hcp", "its", "disk", "disks", "ie.http", "ie.https"),
    *("onenote", "onenotedesktop", "outlook", "outlookfeed", "stssync", "windowsdefender", "calculator", "read", "cmd"),
    *("xbox", "zune", "wtai", "msteams", "skype", "insiderhub", "powershell", "jnlp", "jnlps"),
    *("dlna-playsingle", "dlna-playto", "explorer.launchfolder", "explorer.assocactionid.burnselection"),
    # macOS and iOS
    *("applescript", "help", "x-help-action", "x-help-script", "x-man-page", "addressbook", "ical", "message", "dict"),
    *("facetime", "facetime-audio", "facetime-prompt", "imessage", "shortcuts", "workflow", "prefs", "app-prefs"),
    *("macappstore", "macappstores", "photos", "photos-redirect", "maps", "music", "mobilenotes", "tv", "terminal"),
    # Linux desktops and Android
    *("admin", "apt", "apturl", "appstream", "snap", "man", "info", "ghelp", "trash", "recent", "network", "computer"),
    *("burn", "mtp", "gphoto2", "afc", "obex", "fish", "settings", "systemsettings", "remote", "desktop", "kcm"),
    *("intent", "market", "content", "package", "android-app", "android.resource", "voicemail", "samsungapps"),
}
# Schemes that begin with these belong to a system or a browser.
_RESERVED_PREFIXES = (
    *("ms-", "mswindows", "microsoft-edge", "microsoft.", "windows.", "vnd.ms.", "search-ms", "xbox-", "bing"),
    *("x-apple", "com.apple.", "itms", "itunes", "x-radar", "x-web-search"),
    *("chrome-", "moz-", "safari-", "extension", "apt+", "flatpak", "snap+", "gnome-", "org.kde.", "smb+", "nfs+"),
)
