//! The page that `heddle compare` writes, in a browser: its verdicts can be read, and it neither
//! complains nor fetches.

#[allow(
    dead_code,
    reason = "no pictures are taken here, and nothing is printed"
)]
#[path = "../../../page/tests/it/chromium/mod.rs"]
mod chromium;

use assert_cmd::Command;
use std::os::unix::fs::PermissionsExt;

/// A user's workload in which `slow` takes twice as long as `fast`, and `twin` as long as `fast`;
/// the values are computed from the sample's number.
const PROGRAM: &str = r#"#!/bin/sh
for a; do case $a in --model=*) m=${a#*=};; esac; done
case $m in slow) per=2;; *) per=1;; esac
echo "{\"workload\":\"fifth\",\"model\":\"$m\",\"oracle\":{\"ok\":true},\"metrics\":{\"wall_ns\":$((per * (1000 + (HEDDLE_SAMPLE * 7) % 13)))}}"
"#;

const EXPERIMENTS: [(&str, &str); 2] = [("planted", "'fast', 'slow'"), ("alike", "'fast', 'twin'")];

#[test]
fn the_written_page_shows_the_verdicts_of_a_users_workload() {
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("prog"), PROGRAM).unwrap();
    std::fs::set_permissions(own.join("prog"), PermissionsExt::from_mode(0o755)).unwrap();
    for (id, models) in EXPERIMENTS {
        let text = format!(
            "id = '{id}'\ntitle = 'A fifth workload'\nworkload = 'fifth'\n\
             metric = {{ name = 'wall_ns', label = 'time per item', unit = 'ns' }}\nquick = {{ timeout_s = 20 }}\n\
             [[program]]\ncommand = ['./prog']\nmodels = [{models}]\n"
        );
        std::fs::write(own.join(format!("{id}.toml")), text).unwrap();
    }

    let output = Command::cargo_bin("heddle-compare")
        .unwrap()
        .args(["./own", "--seed", "1", "--json"])
        .current_dir(home.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let verdicts: Vec<&str> = report["experiments"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|experiment| experiment["verdicts"].as_array().unwrap())
        // The page names the experiment beside the sentence.
        .map(|verdict| verdict.as_str().unwrap().split_once(": ").unwrap().1)
        .collect();
    assert_eq!(verdicts.len(), 2, "{verdicts:?}");
    assert!(
        verdicts
            .iter()
            .any(|text| text.starts_with("no significant difference between")),
        "{verdicts:?}"
    );
    assert!(
        verdicts
            .iter()
            .any(|text| text.starts_with("fast wins") && text.contains("2.00×")),
        "{verdicts:?}"
    );

    let page = home.path().join("report/index.html");
    let mut browser = chromium::Browser::start();
    browser.open(&page, 1200, "light");
    browser.evaluate("document.getElementById('all').click()");
    let wanted = serde_json::to_string(&verdicts).unwrap();
    let unseen = browser.evaluate(&format!(
        "{wanted}.filter(text => !document.body.innerText.includes(text))"
    ));
    assert_eq!(
        unseen,
        serde_json::json!([]),
        "verdicts that cannot be read"
    );
    assert_eq!(browser.complaints, [] as [String; 0]);
    assert_eq!(browser.requests_other_than(&page), [] as [String; 0]);
}
