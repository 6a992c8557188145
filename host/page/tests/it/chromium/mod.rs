//! A headless Chromium, spoken to over a pipe in the DevTools protocol: JSON messages that end in a
//! NUL.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Where Debian puts it.
const CHROMIUM: &str = "/usr/bin/chromium";
/// Nothing that the tests ask takes a hundredth of this; it only ends a test that would wait for
/// ever.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one tab.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    sent: u64,
    /// The loaders of documents whose load events came.
    loaded: Vec<Value>,
    /// Console errors, exceptions and entries of the browser's log.
    pub complaints: Vec<String>,
    requests: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the browser and opens an empty tab.
    pub fn start() -> Self {
        assert!(
            Path::new(CHROMIUM).exists(),
            "error: {CHROMIUM} is missing, so the page is not checked: sudo apt install chromium"
        );
        let profile = tempfile::tempdir().unwrap();
        // It reads commands from descriptor 3 and writes to 4; the shell makes these of the pipes
        // that every child can have. `exec`, so that the process that we end is the browser itself.
        let script = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
        let mut process = Command::new("sh")
            .args([
                "-c",
                script,
                CHROMIUM,
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            // What it leaves there goes with us.
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = process.stdin.take().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = vec![];
            while output
                .read_until(0, &mut message)
                .is_ok_and(|length| length > 0)
            {
                message.pop();
                if serde_json::from_slice(&message)
                    .is_ok_and(|message| sender.send(message).is_err())
                {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            process,
            commands,
            messages,
            session: None,
            sent: 0,
            loaded: vec![],
            complaints: vec![],
            requests: vec![],
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let session = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = session["sessionId"].as_str().map(Into::into);
        for domain in ["Network", "Runtime", "Log", "Page"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.call("Page.setLifecycleEventsEnabled", json!({"enabled": true}));
        browser
    }

    /// Opens a file in a window of this width and colour scheme, and waits until it is loaded.
    pub fn open(&mut self, page: &Path, width: u32, scheme: &str) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
        );
        self.call(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        let answer = self.call("Page.navigate", json!({"url": url(page)}));
        assert_eq!(
            answer.get("errorText"),
            None,
            "{} did not open",
            page.display()
        );
        // The load event of what was open before, the empty tab for one, may come only now.
        while !self.loaded.contains(&answer["loaderId"]) {
            self.receive("the page to load");
        }
        // What was said while the page loaded has been said before the answer to this.
        self.evaluate("0");
    }

    /// The page as it is printed.
    pub fn print_media(&mut self) {
        self.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    }

    /// Pages that are opened from now on run no script of their own.
    pub fn without_scripts(&mut self) {
        self.call(
            "Emulation.setScriptExecutionDisabled",
            json!({"value": true}),
        );
    }

    /// A JavaScript expression's value; of a promise, what it brings.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert_eq!(answer.get("exceptionDetails"), None, "{expression}");
        answer["result"]["value"].clone()
    }

    /// Clicks with the mouse.
    pub fn click(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", button);
        }
    }

    /// Presses keys one after the other: a letter each.
    pub fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            let down = json!({"type": "keyDown", "text": key, "key": key});
            self.call("Input.dispatchKeyEvent", down);
            self.call(
                "Input.dispatchKeyEvent",
                json!({"type": "keyUp", "key": key}),
            );
        }
    }

    /// A PNG of the page down to `height`, or of all of it.
    pub fn picture(&mut self, height: Option<u32>) -> Vec<u8> {
        let size = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        let height = height.map_or(size["height"].clone(), Value::from);
        self.picture_of(
            json!({"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1}),
        )
    }

    /// A PNG of a rectangle: x, y, width, height and scale, in CSS pixels of the page.
    pub fn picture_of(&mut self, clip: Value) -> Vec<u8> {
        let answer = self.call(
            "Page.captureScreenshot",
            json!({"format": "png", "captureBeyondViewport": true, "clip": clip}),
        );
        base64(answer["data"].as_str().unwrap())
    }

    /// Addresses that were asked for, but for the page itself.
    pub fn requests_other_than(&self, page: &Path) -> Vec<String> {
        let own = [url(page), "about:blank".into()];
        // A `data:` address is part of the page, a `blob:` one is what its button saves: neither
        // leaves the machine or reads a file.
        self.requests
            .iter()
            .filter(|address| {
                !own.contains(address)
                    && !address.starts_with("data:")
                    && !address.starts_with("blob:")
            })
            .cloned()
            .collect()
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let number = self.sent;
        let mut message = json!({"id": number, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.commands
            .write_all(format!("{message}\0").as_bytes())
            .unwrap();
        self.commands.flush().unwrap();
        loop {
            let answer = self.receive(method);
            if answer["id"] == number {
                assert_eq!(answer.get("error"), None, "{method}");
                return answer["result"].clone();
            }
        }
    }

    fn receive(&mut self, what_for: &str) -> Value {
        let message = self
            .messages
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|error| {
                panic!("waiting for {what_for}: {error} (chromium ended or hangs)")
            });
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Page.lifecycleEvent") if parameters["name"] == "load" => {
                self.loaded.push(parameters["loaderId"].clone());
            }
            Some("Network.requestWillBeSent") => self.requests.push(
                parameters["request"]["url"]
                    .as_str()
                    .unwrap_or("?")
                    .to_string(),
            ),
            Some("Runtime.exceptionThrown") => self
                .complaints
                .push(parameters["exceptionDetails"].to_string()),
            Some("Log.entryAdded") => self.complaints.push(parameters["entry"].to_string()),
            Some("Runtime.consoleAPICalled")
                if matches!(
                    parameters["type"].as_str(),
                    Some("error" | "warning" | "assert")
                ) =>
            {
                self.complaints.push(parameters["args"].to_string());
            }
            _ => {}
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself; its profile is removed after this, so it must not write any
        // more.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn url(page: &Path) -> String {
    let path: PathBuf = page.canonicalize().unwrap();
    format!("file://{}", path.display())
}

/// Decodes what the protocol calls a picture. The alphabet is the standard one, the text is the
/// browser's own.
fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bytes = text.trim_end_matches('=').as_bytes();
    bytes
        .chunks(4)
        .flat_map(|four| {
            let bits = four.iter().enumerate().fold(0_u32, |bits, (at, c)| {
                bits | u32::from(digit(*c)) << (18 - 6 * at)
            });
            bits.to_be_bytes()[1..four.len()].to_vec()
        })
        .collect()
}
